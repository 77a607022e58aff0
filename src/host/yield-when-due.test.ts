import assert from 'node:assert/strict';
import { test } from 'node:test';
import { yieldWhenDue } from './yield-when-due.ts';

test('yieldWhenDue() lets timers run within an endless chain of promises', async () => {
  let isTimeUp = false;
  setTimeout(() => {
    isTimeUp = true;
  }, 1);
  let steps = 0;
  // Without the wait this never ends, and no timer of the test runner could end it.
  while (!isTimeUp) {
    steps += 1;
    await (yieldWhenDue() ?? Promise.resolve());
  }
  assert.ok(steps > 1);
});

test('yieldWhenDue() is undefined where the event loop runs anyway', async () => {
  for (let round = 0; round < 20; round += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(yieldWhenDue(), undefined);
  }
});
