import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRotation } from './rotation.ts';

test('owners take turns, and who comes late with little does not wait for one with much', () => {
  const rotation = createRotation<string>();
  for (const thing of ['a1', 'a2', 'a3']) rotation.add('a', thing);
  rotation.add('b', 'b1');
  assert.equal(rotation.next(), 'a1');
  rotation.add('c', 'c1');
  assert.equal(rotation.size(), 4);
  const rest = Array.from({ length: 5 }, rotation.next);
  assert.deepEqual(rest, ['b1', 'a2', 'c1', 'a3', undefined]);
  assert.equal(rotation.size(), 0);
});

test('an owner whose line was empty stands last again', () => {
  const rotation = createRotation<number>();
  rotation.add('a', 1);
  assert.equal(rotation.next(), 1);
  rotation.add('b', 2);
  rotation.add('a', 3);
  assert.deepEqual([rotation.next(), rotation.next()], [2, 3]);
});
