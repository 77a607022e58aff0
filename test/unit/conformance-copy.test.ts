// The recordings in this repository are a copy; where their original is at hand, it must be the same.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const copy = join(root, 'test', 'conformance');
const original = join(root, '..', 'shared', 'conformance');
const skip = existsSync(original)
  ? false
  : 'the original of the recordings is not beside this repository: nothing to compare with';

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length + 1))
    .sort();
}

test('the copied recordings equal their original', { skip }, () => {
  const names = new Set([...filesIn(original), ...filesIn(copy)]);
  const differing = [...names].filter((name) => {
    const [copied, source] = [join(copy, name), join(original, name)];
    if (!existsSync(copied) || !existsSync(source)) return true;
    return !readFileSync(copied).equals(readFileSync(source));
  });
  assert.deepEqual(differing, [], 'run `node scripts/sync-conformance.mjs`');
});
