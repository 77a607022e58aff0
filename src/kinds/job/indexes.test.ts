import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  commonIndex,
  countIndexes,
  formatIndexes,
  hasIndex,
  parseIndexes,
  readIndexes,
  withIndexes,
} from './indexes.ts';

test('parseIndexes() reads ascending intervals', () => {
  assert.deepEqual(parseIndexes('', 3), { intervals: [], total: 0 });
  const { intervals, total } = parseIndexes('0,2-4,7', 8) as Exclude<
    ReturnType<typeof parseIndexes>,
    { error: string }
  >;
  assert.equal(total, 5);
  assert.equal(formatIndexes(intervals), '0,2-4,7');
});

for (const [text, error] of [
  ['5', 'too large index: "5"'],
  ['1,1', 'non-increasing order, previous: 1, current: 1'],
  ['3-2', 'non-increasing order, previous: 3, current: 2'],
  ['1-2-3', /^the fragment "1-2-3" violates the requirement/],
  ['a', 'cannot convert string to integer for index: "a"'],
  ['-1', 'cannot convert string to integer for index: ""'],
  ['0,', 'cannot convert string to integer for index: ""'],
  ['99999999999999999999', 'cannot convert string to integer for index: "99999999999999999999"'],
] as const) {
  test(`parseIndexes() refuses "${text}"`, () => {
    const parsed = parseIndexes(text, 5);
    assert.ok('error' in parsed);
    if (typeof error === 'string') assert.equal(parsed.error, error);
    else assert.match(parsed.error, error);
  });
}

test('readIndexes() drops what is beyond the completions, and merges', () => {
  assert.deepEqual(readIndexes('0,1,3-9', 5), [
    { first: 0, last: 1 },
    { first: 3, last: 4 },
  ]);
  assert.deepEqual(readIndexes('x,7', 5), []);
});

test('withIndexes() merges neighbours and repeats', () => {
  const merged = withIndexes([{ first: 2, last: 3 }], [4, 0, 3]);
  assert.deepEqual(merged, [
    { first: 0, last: 0 },
    { first: 2, last: 4 },
  ]);
  assert.equal(countIndexes(merged), 4);
});

test('formatIndexes() writes two neighbours with a comma and more with a hyphen', () => {
  const intervals = withIndexes([], [0, 1, 3, 5, 6, 7]);
  assert.equal(formatIndexes(intervals), '0,1,3,5-7');
});

test('hasIndex() and commonIndex() find indexes', () => {
  const intervals = withIndexes([], [0, 1, 5, 6, 9]);
  const found = [0, 1, 2, 4, 5, 6, 9, 10].filter((index) => hasIndex(intervals, index));
  assert.deepEqual(found, [0, 1, 5, 6, 9]);
  assert.equal(commonIndex(intervals, [{ first: 2, last: 5 }]), 5);
  assert.equal(commonIndex(intervals, [{ first: 2, last: 4 }]), undefined);
});

test('parseIndexes() reads a text of the maximum size', () => {
  const completions = 100_000;
  const every = Array.from({ length: completions / 2 }, (_, index) => index * 2);
  const text = every.join(',');
  const parsed = parseIndexes(text, completions);
  assert.ok('total' in parsed);
  assert.equal(parsed.total, every.length);
  assert.equal(formatIndexes(withIndexes([], every)), text);
});
