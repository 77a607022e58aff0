import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reducedChange } from './reduce-change.ts';

const items = (count: number, odd: string) =>
  Array.from({ length: count }, (_, n) => ({ name: `n${n}`, value: n % 2 === 0 ? odd : 'same' }));

test('reducedChange() returns small values unchanged', () => {
  const [before, after] = [
    { a: 1, list: items(3, 'x') },
    { a: 1, list: items(3, 'y') },
  ];
  assert.deepEqual(reducedChange(before, after), [before, after]);
});

test('reducedChange() keeps the first differences of large values', () => {
  const [was, is] = reducedChange(
    { a: 1, b: 2, list: items(5_000, 'x') },
    { a: 1, b: 3, list: items(5_000, 'y') },
  );
  assert.deepEqual(was, { b: 2, list: [{ value: 'x' }, { value: 'x' }, { value: 'x' }] });
  assert.deepEqual(is, { b: 3, list: [{ value: 'y' }, { value: 'y' }, { value: 'y' }] });
});

test('reducedChange() shows what only one of two large ones has', () => {
  const list = items(5_000, 'x');
  const [was, is] = reducedChange<object>(
    { list, gone: 1 },
    { list: [...list, 'new'], map: { k: 1 } },
  );
  assert.deepEqual(was, { gone: 1, list: [] });
  assert.deepEqual(is, { list: ['new'], map: { k: 1 } });
});
