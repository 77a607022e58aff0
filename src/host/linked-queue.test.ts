import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLine } from './linked-queue.ts';

test('things stand in the order in which they came, and may leave from anywhere', () => {
  const line = createLine<string>();
  const [a, b, c, d] = (['a', 'b', 'c', 'd'] as const).map(line.add);
  assert.ok(a && b && c && d);
  line.leave(b);
  assert.deepEqual([line.all(), line.size()], [['a', 'c', 'd'], 3]);
  line.leave(d);
  line.add('e');
  line.leave(a);
  assert.deepEqual([line.all(), line.first()?.thing], [['c', 'e'], 'c']);
  line.leave(c);
  line.leave(c);
  assert.deepEqual([line.all(), line.size()], [['e'], 1]);
});

test('an empty line is like a new one', () => {
  const line = createLine<number>();
  line.leave(line.add(1));
  assert.deepEqual([line.first(), line.size()], [undefined, 0]);
  line.add(2);
  line.add(3);
  assert.deepEqual(line.all(), [2, 3]);
});

test('who has left keeps nobody who came later', () => {
  const line = createLine<number>();
  const first = line.add(1);
  const second = line.add(2);
  line.add(3);
  line.leave(second);
  line.leave(first);
  assert.deepEqual(
    [first, second].map(({ before, after }) => [before, after]),
    [
      [undefined, undefined],
      [undefined, undefined],
    ],
  );
});
