// The manifests of roles are what the parts declare. With FAIRLEAD_UPDATE_DOCS=1 they are written anew.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { manifestText, roleManifests } from '../parts/harness/role-manifests.ts';

const directory = 'docs/deploy/kubernetes/rbac';

for (const manifest of roleManifests) {
  const file = join(directory, manifest.file);
  test(`${file} grants what the code declares`, () => {
    const wanted = manifestText(manifest);
    if (process.env.FAIRLEAD_UPDATE_DOCS === '1') {
      mkdirSync(directory, { recursive: true });
      writeFileSync(file, wanted);
    }
    assert.equal(readFileSync(file, 'utf8'), wanted, `${file} is stale`);
  });
}

test('there are no other manifests of roles', () => {
  assert.deepEqual(readdirSync(directory).sort(), roleManifests.map(({ file }) => file).sort());
});
