import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contains, repeatedIndexes } from './contains.ts';

test('contains() works on short and long lists', () => {
  for (const length of [0, 3, 16, 17, 1_000]) {
    const list = Array.from({ length }, (_, n) => `v${n}`);
    for (const value of ['v0', 'v2', `v${length - 1}`, `v${length}`, '']) {
      assert.equal(contains(list, value), list.includes(value), `${value} of ${length}`);
    }
  }
});

test('repeatedIndexes() finds repeated values', () => {
  assert.deepEqual([...repeatedIndexes(['a', 'b', 'a', 'c', 'b', 'a'])], [2, 4, 5]);
  assert.deepEqual([...repeatedIndexes([])], []);
});
