import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReadyKeys, type ReadyKeys } from './ready-keys.ts';

const takeAll = (ready: ReadyKeys): readonly string[] => {
  const keys: string[] = [];
  for (let next = ready.take(); next !== undefined; next = ready.take()) keys.push(next.key);
  return keys;
};

test('createReadyKeys() is first in, first out', () => {
  const ready = createReadyKeys();
  for (const key of ['a', 'b', 'c']) ready.add(key, 1);
  assert.deepEqual(ready.take(), { key: 'a', at: 1 });
  ready.add('a', 2);
  assert.ok(ready.has('a'));
  assert.equal(ready.size(), 3);
  assert.deepEqual(takeAll(ready), ['b', 'c', 'a']);
  assert.equal(ready.size(), 0);
});

test('createReadyKeys() takes keys of higher priority first, also those that come later', () => {
  const ready = createReadyKeys((key) => Number(key.slice(1)));
  for (const key of ['a0', 'b5', 'c0', 'd-1', 'e5']) ready.add(key, 1);
  assert.equal(ready.take()?.key, 'b5');
  ready.add('f9', 1);
  assert.deepEqual(takeAll(ready), ['f9', 'e5', 'a0', 'c0', 'd-1']);
  ready.add('a0', 1);
  ready.clear();
  assert.deepEqual(takeAll(ready), []);
});

test('createReadyKeys() takes a key of low priority after one of high priority has gone', () => {
  const ready = createReadyKeys((key) => Number(key.slice(1)));
  ready.add('a9', 1);
  assert.equal(ready.take()?.key, 'a9');
  ready.add('b0', 1);
  ready.add('c3', 1);
  assert.deepEqual(takeAll(ready), ['c3', 'b0']);
});

test('createReadyKeys() takes a hundred thousand keys of as many priorities', () => {
  const ready = createReadyKeys((key) => Number(key) % 50_000);
  const count = 100_000;
  for (let index = 0; index < count; index += 1) ready.add(String(index), index);
  assert.equal(takeAll(ready).length, count);
});
