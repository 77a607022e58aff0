import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { goDuration, pulledEvent } from './pull-messages.ts';

const durations: Readonly<Record<string, number>> = {
  '0s': 0.4,
  '350ms': 350.9,
  '1s': 1000,
  '1.2s': 1200,
  '12.345s': 12_345,
  '1m0s': 60_000,
  '2m0.5s': 120_500,
  '1h0m1s': 3_601_000,
};

describe('goDuration()', () => {
  for (const [text, ms] of Object.entries(durations)) {
    it(`writes ${text}`, () => {
      assert.equal(goDuration(ms), text);
    });
  }
});

describe('pulledEvent()', () => {
  it('says how long it took and how large the image is', () => {
    assert.deepEqual(pulledEvent('nginx:stable', { pullMs: 1234, wholeMs: 2000 }, 70_000_000), [
      'Pulled',
      'Successfully pulled image "nginx:stable" in 1.234s (2s including waiting). Image size: 70000000 bytes.',
    ]);
  });
});
