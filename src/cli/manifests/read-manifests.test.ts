import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parseManifests, readManifests } from './read-manifests.ts';

const names = (text: string): readonly string[] =>
  parseManifests(text, 'x.yaml').map(({ object }) => `${object.kind} ${object.metadata.name}`);

test('parseManifests() reads documents and lists, and leaves out empty ones', () => {
  assert.deepEqual(
    names(`
---
apiVersion: v1
kind: Service
metadata: {name: a}
---
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Secret, metadata: {name: b}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}
`),
    ['Service a', 'Secret b', 'ConfigMap c'],
  );
});

test('parseManifests() reads JSON', () => {
  assert.deepEqual(names('{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}'), ['Pod p']);
});

const refusals: readonly { name: string; text: string; why: RegExp }[] = [
  { name: 'text', text: 'hello', why: /an object is needed/ },
  { name: 'no kind', text: 'apiVersion: v1', why: /kind not set/ },
  { name: 'no version', text: 'kind: Pod', why: /apiVersion not set/ },
  { name: 'broken YAML', text: 'a: [', why: /error parsing x.yaml/ },
];
for (const { name, text, why } of refusals) {
  test(`parseManifests() refuses ${name}`, () => {
    assert.throws(() => parseManifests(text, 'x.yaml'), { message: why });
  });
}

const directory = mkdtempSync(join(tmpdir(), 'fairlead-manifests-'));
after(() => rmSync(directory, { recursive: true }));
const manifest = '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}';
chmodSync(directory, 0o755);
for (const name of ['closed', 'closed-listing', 'open', 'open/below.yaml'])
  mkdirSync(join(directory, name));
for (const name of ['a.yaml', 'open/b.yaml', 'open/a.json', 'closed/c.yaml', 'closed.yaml'])
  writeFileSync(join(directory, name), manifest);
symlinkSync('loop.yaml', join(directory, 'loop.yaml'));
symlinkSync('nothing', join(directory, 'open', 'dangling.txt'));
for (const name of ['closed', 'closed-listing', 'closed.yaml']) chmodSync(join(directory, name), 0);

/** As an unprivileged user: root may read every file. */
async function asOrdinaryUser<T>(work: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0 || process.seteuid === undefined) return work();
  process.seteuid(65534);
  try {
    return await work();
  } finally {
    process.seteuid(0);
  }
}

const unreadable: Readonly<Record<string, string>> = {
  'missing.yaml': 'the path "missing.yaml" does not exist',
  'closed.yaml': 'open closed.yaml: permission denied',
  'closed/c.yaml':
    'the path "closed/c.yaml" cannot be accessed: stat closed/c.yaml: permission denied',
  'closed-listing': 'open closed-listing: permission denied',
  'a.yaml/b': 'the path "a.yaml/b" cannot be accessed: stat a.yaml/b: not a directory',
  'loop.yaml':
    'the path "loop.yaml" cannot be accessed: stat loop.yaml: too many levels of symbolic links',
};
for (const [path, expected] of Object.entries(unreadable)) {
  test(`readManifests() of ${path} says: ${expected}`, async () => {
    await assert.rejects(
      asOrdinaryUser(() => readManifests([path], directory)),
      { message: `error: ${expected}` },
    );
  });
}

test('readManifests() reads the files of a directory in order, and none of those below it', async () => {
  const found = await asOrdinaryUser(() => readManifests(['open'], directory));
  assert.deepEqual(
    found.map(({ source }) => source),
    ['open/a.json', 'open/b.yaml'],
  );
});
