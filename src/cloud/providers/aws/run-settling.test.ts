import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createFakeClock } from '../../../host/fake-clock.ts';
import { createSettling } from './run-settling.ts';

const settleMs = 10_000;
/** Of one write: other calls before it, attempts that were throttled, an answer that never came. */
const slowMs = 3 * settleMs;

describe('what AWS may not show yet', () => {
  for (const { title, end } of [
    { title: 'succeeded', end: async () => 'done' },
    {
      title: 'failed, which may be after it was done',
      end: () => Promise.reject(new Error('lost')),
    },
  ]) {
    test(`counts from the end of a slow write that ${title}`, async () => {
      const clock = createFakeClock(0);
      const settling = createSettling(clock, settleMs);
      const write = settling.write('a', async () => {
        await clock.advance(slowMs);
        return end();
      });
      await write.catch(() => undefined);
      assert.equal(settling.settledAt('a'), slowMs + settleMs);
      assert.equal(settling.isUnsure('a'), true);
    });
  }
});
