import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readUntilNothingNew } from './read-until-nothing-new.ts';

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
  for (const list of [['a', 'b'], []]) {
    const { read, reads } = reader(list);
    assert.deepEqual(await readUntilNothingNew(read, itself), list);
    assert.equal(reads(), 2);
  }
});

test('an entry that one reading leaves out is in the answer', async () => {
  for (const lists of [
    [['a', 'b'], ['a', 'c'], ['a']],
    [['a'], ['b', 'c'], ['a']],
  ]) {
    const { read, reads } = reader(...lists);
    assert.deepEqual(await readUntilNothingNew(read, itself), ['a', 'b', 'c']);
    assert.equal(reads(), 3);
  }
});

test('an entry that a reading has twice is in the answer once, as it was seen last', async () => {
  const [first, second] = [[{ key: 'a', at: 1 }], [{ key: 'a', at: 2 }]];
  const lists = [[...first, ...first], second];
  const read = async () => lists.shift() ?? [];
  assert.deepEqual(await readUntilNothingNew(read, ({ key }) => key), second);
});

test('of a list that never ends, what ten readings have seen is the answer', async () => {
  let reads = 0;
  const seen = await readUntilNothingNew(async () => [String(reads++)], itself);
  assert.equal(seen.length, 10);
});
