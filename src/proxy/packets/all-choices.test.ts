import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allDraws } from './all-choices.ts';

test('allDraws() takes every way once, with its chance', () => {
  const ways = allDraws((draw) => (draw([0.25, 0.75]) === 0 ? 'a' : `b${draw([0.5, 0.5])}`));
  assert.deepEqual(ways, [
    { result: 'a', chance: 0.25 },
    { result: 'b0', chance: 0.375 },
    { result: 'b1', chance: 0.375 },
  ]);
});

test('allDraws() has one way where nothing is drawn', () => {
  assert.deepEqual(
    allDraws(() => 'only'),
    [{ result: 'only', chance: 1 }],
  );
});
