import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPullBackOff } from './pull-back-off.ts';
import type { ImageProblem } from './pull-messages.ts';

const problem: ImageProblem = { reason: 'ErrImagePull', message: 'no such image' };

describe('createPullBackOff()', () => {
  it('doubles from 10 s to 5 min', () => {
    const backOff = createPullBackOff();
    const delays: number[] = [];
    for (let now = 0, count = 0; count < 7; count += 1) {
      const { delayMs } = backOff.fail('pod_image', problem, now);
      delays.push(delayMs);
      assert.equal(backOff.of('pod_image', now + delayMs - 1)?.problem, problem);
      assert.equal(backOff.of('pod_image', now + delayMs), undefined);
      now += delayMs;
    }
    assert.deepEqual(
      delays,
      [10, 20, 40, 80, 160, 300, 300].map((seconds) => seconds * 1000),
    );
  });

  it('knows images and pods apart, and forgets', () => {
    const backOff = createPullBackOff();
    backOff.fail('one', problem, 0);
    assert.equal(backOff.of('other', 1), undefined);
    backOff.clear('one');
    assert.equal(backOff.of('one', 1), undefined);
    backOff.fail('one', problem, 0);
    assert.equal(backOff.fail('one', problem, 600_001).delayMs, 10_000);
  });
});
