import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isActive, isTerminating } from './activity.ts';
import { podOf } from './example.ts';

test('isActive() and isTerminating() classify pods', () => {
  const going = podOf('p', 1, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
  const ended = podOf('p', 1, { status: { phase: 'Succeeded' } });
  assert.deepEqual([podOf('p'), going, ended].map(isActive), [true, false, false]);
  assert.deepEqual([podOf('p'), going, ended].map(isTerminating), [false, true, false]);
});
