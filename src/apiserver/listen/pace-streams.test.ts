import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextIteration } from 'node:timers/promises';
import {
  createStreamBurst,
  createStreamPacer,
  isResetTooMany,
  maxBurst,
  maxResets,
} from './pace-streams.ts';

test('startsNow() starts a few requests of each connection in one iteration of the event loop', async () => {
  const pacer = createStreamPacer();
  const [one, another] = [createStreamBurst(0), createStreamBurst(0)];
  const begun = (burst: typeof one): number =>
    Array.from({ length: 1000 }, () => pacer.startsNow(burst)).filter(Boolean).length;
  assert.deepEqual([begun(one), begun(one), begun(another)], [maxBurst, 0, maxBurst]);
  await nextIteration();
  assert.deepEqual([begun(one), begun(one)], [maxBurst, 0]);
});

test('isResetTooMany() allows a burst and a steady rate', () => {
  const burst = createStreamBurst(0);
  const resets = (count: number, nowMs: number): boolean[] =>
    Array.from({ length: count }, () => isResetTooMany(burst, nowMs));
  assert.ok(!resets(maxResets, 0).includes(true));
  assert.ok(resets(1, 0).includes(true));
  assert.ok(!resets(49, 1_040).includes(true));
  assert.ok(resets(10, 1_040).includes(true));
  assert.ok(!resets(maxResets, 1_000_000).includes(true));
});

test('queue() starts a few requests in each iteration, and skips those that were reset', async () => {
  const pacer = createStreamPacer();
  const begun: number[] = [];
  const add = (from: number, to: number): void => {
    for (let n = from; n < to; n += 1) {
      pacer.queue(() => {
        const isReset = n % 2 === 1;
        if (!isReset) begun.push(n);
        return !isReset;
      });
    }
  };
  add(0, 40);
  assert.deepEqual(begun, []);
  const counts: number[] = [];
  for (let n = 0; n < 4; n += 1) {
    await nextIteration();
    counts.push(begun.length);
  }
  assert.deepEqual(counts, [8, 16, 20, 20]);
  add(40, 50);
  await nextIteration();
  assert.deepEqual(
    begun,
    Array.from({ length: 25 }, (_, n) => 2 * n),
  );
});
