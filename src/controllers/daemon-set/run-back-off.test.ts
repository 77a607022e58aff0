import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../../host/fake-clock.ts';
import { createFailureBackOff } from './run-back-off.ts';

test('createFailureBackOff() doubles the wait with each failure and forgets', async () => {
  const clock = createFakeClock();
  const backOff = createFailureBackOff(clock);
  assert.equal(backOff.remainingMs('k'), 0);
  const waits: number[] = [];
  for (let failure = 0; failure < 12; failure += 1) {
    backOff.failed('k');
    waits.push(backOff.remainingMs('k'));
  }
  assert.deepEqual(waits.slice(0, 4), [1000, 2000, 4000, 8000]);
  assert.equal(waits.at(-1), 900_000);
  assert.equal(backOff.remainingMs('other'), 0);
  await clock.advance(900_000);
  assert.equal(backOff.remainingMs('k'), 0);
  await clock.advance(1_000_000);
  backOff.failed('k');
  assert.equal(backOff.remainingMs('k'), 1000);
});
