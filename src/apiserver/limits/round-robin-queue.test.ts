import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRoundRobinQueue } from './round-robin-queue.ts';

test('next() serves the owners in turn, however much each of them has', () => {
  const queue = createRoundRobinQueue<string>();
  for (const value of ['a1', 'a2', 'a3']) queue.add('a', value);
  queue.add('b', 'b1');
  assert.equal(queue.next(), 'a1');
  queue.add('c', 'c1');
  assert.equal(queue.size(), 4);
  const rest = Array.from({ length: 5 }, queue.next);
  assert.deepEqual(rest, ['b1', 'a2', 'c1', 'a3', undefined]);
  assert.equal(queue.size(), 0);
});

test('next() serves an owner last that had no values for a while', () => {
  const queue = createRoundRobinQueue<number>();
  queue.add('a', 1);
  assert.equal(queue.next(), 1);
  queue.add('b', 2);
  queue.add('a', 3);
  assert.deepEqual([queue.next(), queue.next()], [2, 3]);
});
