// The version is what package.json says; files that must repeat it agree.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const read = (file: string): string => readFileSync(file, 'utf8');
const { version } = JSON.parse(read('package.json')) as { readonly version: string };

test('package-lock.json has the version of package.json', () => {
  const lock = JSON.parse(read('package-lock.json')) as {
    readonly version: string;
    readonly packages: { readonly '': { readonly version: string } };
  };
  assert.deepEqual([lock.version, lock.packages[''].version], [version, version]);
});

test('the newest release in CHANGELOG.md is the version of package.json', () => {
  const releases = [...read('CHANGELOG.md').matchAll(/^## \[(\d[^\]]*)\] - \d{4}-\d\d-\d\d$/gm)];
  assert.equal(releases[0]?.[1], version);
});

test('manifests and the Dockerfile name the image of this version', () => {
  const folder = 'docs/deploy/kubernetes';
  const files = readdirSync(folder).filter((file) => /^Dockerfile$|\.yaml$/.test(file));
  const tags = files.flatMap((file) => {
    const found = read(`${folder}/${file}`).matchAll(/registry\.example\/fairlead:(\S+)/g);
    return [...found].map(([, tag]) => `${file}: ${tag}`);
  });
  assert.ok(tags.length >= 3);
  assert.deepEqual(
    tags.filter((tag) => !tag.endsWith(`: ${version}`)),
    [],
  );
});
