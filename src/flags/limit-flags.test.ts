import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command, CommanderError } from 'commander';
import { defaultLimits } from '../apiserver/limits/limits.ts';
import { addLimitFlags, limitsOf } from './limit-flags.ts';

function limitsFrom(...args: readonly string[]) {
  const command = addLimitFlags(new Command()).exitOverride();
  command.configureOutput({ writeErr: () => {} });
  return limitsOf(command.parse([...args], { from: 'user' }).opts());
}

test('without flags the limits are the defaults', () => {
  assert.deepEqual(limitsFrom(), defaultLimits);
});

test('flags set limits, times in milliseconds', () => {
  const limits = limitsFrom(
    ...['--max-requests-inflight', '0', '--max-mutating-requests-inflight', '7'],
    ...['--request-timeout', '2m', '--max-watches-per-user', '3', '--idle-timeout', '5s'],
    ...['--max-unread-bytes', '1000'],
  );
  assert.deepEqual(limits, {
    ...defaultLimits,
    maxRequestsInFlight: 0,
    maxMutatingRequestsInFlight: 7,
    requestTimeoutMs: 120_000,
    maxWatchesPerUser: 3,
    idleTimeoutMs: 5_000,
    maxUnreadBytes: 1000,
  });
});

const wrong: readonly (readonly string[])[] = [
  ['--max-requests-inflight', '-1'],
  ['--max-requests-inflight', 'many'],
  ['--max-request-body-bytes', '0'],
  ['--request-timeout', '60'],
  ['--max-unread-bytes', '1e9'],
];
for (const args of wrong) {
  test(`addLimitFlags() refuses ${args.join(' ')}`, () => {
    assert.throws(() => limitsFrom(...args), CommanderError);
  });
}
