import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Expiring, startExpiry } from './expiry.ts';
import { createTestClock } from './test-clock.ts';

const expiring = (key: string, expiresAt: number): Expiring => ({ key, revision: 1, expiresAt });

test('startExpiry() hands over what is due, the earliest first', () => {
  const clock = createTestClock(0);
  const expired: string[] = [];
  const expiry = startExpiry(clock, (due) => expired.push(...due.map(({ key }) => key)));
  for (const [index, at] of [5, 3, 9, 1, 7, 2, 8, 4, 6].entries()) {
    expiry.add(expiring(`${at}/${index}`, at * 1_000));
  }
  clock.advance(4_000);
  assert.deepEqual(expired, ['1/3', '2/5', '3/1', '4/7']);
  clock.advance(5_000);
  assert.deepEqual(expired.slice(4), ['5/0', '6/8', '7/4', '8/6', '9/2']);
});

test('startExpiry() resets its timer for a key that is added later and due sooner', () => {
  const clock = createTestClock(0);
  const expired: string[] = [];
  const expiry = startExpiry(clock, (due) => expired.push(...due.map(({ key }) => key)));
  expiry.add(expiring('late', 3_600_000));
  expiry.add(expiring('soon', 1_000));
  clock.advance(1_000);
  assert.deepEqual(expired, ['soon']);
  for (let minute = 0; minute < 60; minute++) clock.advance(60_000);
  assert.deepEqual(expired, ['soon', 'late']);
});

test('startExpiry() hands over many keys in batches and stops when closed', () => {
  const clock = createTestClock(0);
  const portions: number[] = [];
  const expiry = startExpiry(clock, (due) => portions.push(due.length));
  for (let n = 0; n < 1_200; n++) expiry.add(expiring(String(n), 1));
  for (let step = 0; step < 2; step++) clock.advance(100);
  assert.deepEqual(portions, [500, 500]);
  expiry.close();
  clock.advance(1_000);
  assert.deepEqual(portions, [500, 500]);
});
