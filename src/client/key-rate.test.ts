import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKeyRate } from './key-rate.ts';

/** Works on the key as often as it is let, for so long; returns when it was. */
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

test('a key is worked on without a wait in a burst, then at its rate', () => {
  const times = workFor(createKeyRate({ burst: 5, perSecond: 10 }), 1000);
  assert.deepEqual(times, [0, 0, 0, 0, 0, 0, 100, 200, 300, 400, 500, 600, 700, 800, 900]);
});

test('a key that rested has its burst again', () => {
  const rate = createKeyRate({ burst: 5, perSecond: 10 });
  workFor(rate, 1000);
  const later = workFor(rate, 1, 10_000);
  assert.equal(later.length, 6);
});

test('keys do not wait for each other', () => {
  const rate = createKeyRate({ burst: 1, perSecond: 1 });
  workFor(rate, 1);
  assert.ok(rate.waitMs('x', 0) > 0);
  assert.equal(rate.waitMs('y', 0), 0);
});

test('a clock that was set back locks no key', () => {
  const rate = createKeyRate({ burst: 5, perSecond: 10 });
  for (let i = 0; i < 100; i += 1) rate.started('x', 1_000_000);
  assert.ok(rate.waitMs('x', 0) <= 100);
});

test('keys that were not worked on lately are forgotten', () => {
  const rate = createKeyRate({ burst: 5, perSecond: 10 });
  for (let n = 0; n < 100_000; n += 1) rate.started(`key-${n}`, n);
  assert.ok(rate.size() < 5_000, `${rate.size()}`);
});
