import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allChoices } from './all-choices.ts';

test('allChoices() takes every way once, with its chance', () => {
  const ways = allChoices((draw) => (draw([0.25, 0.75]) === 0 ? 'a' : `b${draw([0.5, 0.5])}`));
  assert.deepEqual(ways, [
    { result: 'a', chance: 0.25 },
    { result: 'b0', chance: 0.375 },
    { result: 'b1', chance: 0.375 },
  ]);
});

test('allChoices() has one way where nothing is drawn', () => {
  assert.deepEqual(
    allChoices(() => 'only'),
    [{ result: 'only', chance: 1 }],
  );
});
