import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLinkedQueue } from './linked-queue.ts';

test('createLinkedQueue() keeps the order of insertion and removes from anywhere', () => {
  const queue = createLinkedQueue<string>();
  const [a, b, c, d] = (['a', 'b', 'c', 'd'] as const).map(queue.add);
  assert.ok(a && b && c && d);
  queue.remove(b);
  assert.deepEqual([queue.all(), queue.size()], [['a', 'c', 'd'], 3]);
  queue.remove(d);
  queue.add('e');
  queue.remove(a);
  assert.deepEqual([queue.all(), queue.first()?.value], [['c', 'e'], 'c']);
  queue.remove(c);
  queue.remove(c);
  assert.deepEqual([queue.all(), queue.size()], [['e'], 1]);
});

test('createLinkedQueue() works again after it was empty', () => {
  const queue = createLinkedQueue<number>();
  queue.remove(queue.add(1));
  assert.deepEqual([queue.first(), queue.size()], [undefined, 0]);
  queue.add(2);
  queue.add(3);
  assert.deepEqual(queue.all(), [2, 3]);
});

test('createLinkedQueue() clears the neighbours of a removed entry', () => {
  const queue = createLinkedQueue<number>();
  const first = queue.add(1);
  const second = queue.add(2);
  queue.add(3);
  queue.remove(second);
  queue.remove(first);
  assert.deepEqual(
    [first, second].map(({ previous, next }) => [previous, next]),
    [
      [undefined, undefined],
      [undefined, undefined],
    ],
  );
});
