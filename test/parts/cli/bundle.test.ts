// The bundle as the build left it: a mistake in how it is made or loaded would only show as a slower start.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { cacheSuffix, openBundle } from '../../../src/cli/load-bundle.ts';

const folder = fileURLToPath(new URL('../../../bundle/cli/', import.meta.url));

test('V8 takes what the build compiled of the program, and of what it loads when asked', () => {
  const kept = readdirSync(folder).filter((file) => file.endsWith(cacheSuffix));
  assert.ok(kept.length > 0, 'the build kept nothing');
  const bundle = openBundle(folder);
  bundle.load('main.js');
  for (const file of kept) bundle.load(basename(file, cacheSuffix));
  const refused = [...bundle.scripts]
    .filter(([, { cachedDataRejected }]) => cachedDataRejected === true)
    .map(([path]) => basename(path));
  assert.deepEqual(refused, []);
  const taken = [...bundle.scripts.values()].filter((s) => s.cachedDataRejected === false);
  assert.equal(taken.length, kept.length);
});
