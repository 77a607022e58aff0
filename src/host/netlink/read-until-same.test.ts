import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readUntilSame } from './read-until-same.ts';

/** Answers with one list after the other, the last one for ever. */
function reader(...lists: readonly (readonly string[])[]) {
  let reads = 0;
  return {
    read: async () => lists[Math.min(reads++, lists.length - 1)] ?? [],
    reads: () => reads,
  };
}

const itself = (entry: string): string => entry;

test('a list that holds still is read twice', async () => {
  const { read, reads } = reader(['a', 'b']);
  assert.deepEqual(await readUntilSame(read, itself), ['a', 'b']);
  assert.equal(reads(), 2);
});

test('an entry that one reading leaves out is in the answer', async () => {
  assert.deepEqual(await readUntilSame(reader(['a', 'c'], ['a', 'b', 'c']).read, itself), [
    'a',
    'b',
    'c',
  ]);
});

test('two readings of the same length with other entries are not the same', async () => {
  const { read } = reader(['a', 'c'], ['a', 'b'], ['a', 'b', 'c']);
  assert.deepEqual(await readUntilSame(read, itself), ['a', 'b', 'c']);
});

test('an entry that a reading has twice is in the answer once', async () => {
  const { read, reads } = reader(['a', 'b', 'b'], ['a', 'b']);
  assert.deepEqual(await readUntilSame(read, itself), ['a', 'b']);
  assert.equal(reads(), 2);
});

test('a list that never holds still has no answer', async () => {
  let reads = 0;
  assert.equal(await readUntilSame(async () => [String(reads++)], itself), undefined);
  assert.equal(reads, 10);
});
