import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKeyRate } from './key-rate.ts';

/** Starts the key as often as the rate allows during the time; returns the start times. */
function workFor(rate: ReturnType<typeof createKeyRate>, ms: number, from = 0): readonly number[] {
  const times: number[] = [];
  for (let now = from; now < from + ms; now += rate.waitMs('x', now) || 0) {
    if (rate.waitMs('x', now) > 0) continue;
    rate.started('x', now);
    times.push(now);
    if (times.length > 10_000) break;
  }
  return times;
}

test('waitMs() allows a burst without waiting, then the rate', () => {
  const times = workFor(createKeyRate({ burst: 5, perSecond: 10 }), 1000);
  assert.deepEqual(times, [0, 0, 0, 0, 0, 0, 100, 200, 300, 400, 500, 600, 700, 800, 900]);
});

test('waitMs() allows a burst again after an idle time', () => {
  const rate = createKeyRate({ burst: 5, perSecond: 10 });
  workFor(rate, 1000);
  const later = workFor(rate, 1, 10_000);
  assert.equal(later.length, 6);
});

test('waitMs() limits each key on its own', () => {
  const rate = createKeyRate({ burst: 1, perSecond: 1 });
  workFor(rate, 1);
  assert.ok(rate.waitMs('x', 0) > 0);
  assert.equal(rate.waitMs('y', 0), 0);
});

test('waitMs() stays bounded when the clock is set back', () => {
  const rate = createKeyRate({ burst: 5, perSecond: 10 });
  for (let i = 0; i < 100; i += 1) rate.started('x', 1_000_000);
  assert.ok(rate.waitMs('x', 0) <= 100);
});

test('started() removes entries of idle keys', () => {
  const rate = createKeyRate({ burst: 5, perSecond: 10 });
  for (let n = 0; n < 100_000; n += 1) rate.started(`key-${n}`, n);
  assert.ok(rate.size() < 5_000, `${rate.size()}`);
});
