import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isApiError } from '../../meta/api-error.ts';
import { spendSteps } from '../../schema/work-budget.ts';
import { createPace, maxSteps, maxStepsAtOnce, runSteps, spending } from './pace.ts';

test('pause() does not pause small requests', () => {
  const pace = createPace();
  pace.grow(10_000);
  pace.grow(50_000);
  assert.equal(pace.pause(), undefined);
});

test('pause() yields between the steps of a large request', async () => {
  const pace = createPace();
  pace.grow(40_000);
  pace.grow(40_000);
  let others = 0;
  setImmediate(() => {
    others += 1;
  });
  await pace.pause();
  assert.equal(others, 1);
});

function* steps(count: number, each: number): Generator<undefined, string> {
  for (let n = 0; n < count; n += 1) {
    spendSteps(each);
    yield;
  }
  return 'done';
}

const tooLarge = (stepsLeft: number) => (error: unknown) =>
  isApiError(error) &&
  error.status.code === 413 &&
  error.status.message ===
    `Request entity too large: handling it takes more than ${stepsLeft} steps, send less in one request`;

test('runSteps() limits the steps of a request', async () => {
  const pace = createPace();
  assert.equal(await runSteps(steps(9, maxSteps / 10), pace), 'done');
  assert.throws(() => spending(pace, () => spendSteps(maxSteps / 5)), tooLarge(maxSteps / 10));
  await assert.rejects(runSteps(steps(1, 1), pace), tooLarge(0));
});

test('spending() limits the steps without a pause', () => {
  const pace = createPace();
  const spend = () => {
    for (let n = 0; n < 3; n += 1) spendSteps(maxStepsAtOnce / 2);
  };
  assert.throws(() => spending(pace, spend), tooLarge(maxStepsAtOnce));
});
