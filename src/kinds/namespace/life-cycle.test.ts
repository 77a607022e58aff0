import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasOwnFinalizers, isTerminating, markTerminating } from './life-cycle.ts';
import type { Namespace } from './types.ts';

const now = '2026-01-02T03:04:05Z';
const active: Namespace = {
  kind: 'Namespace',
  apiVersion: 'v1',
  metadata: { name: 'a' },
  spec: { finalizers: ['kubernetes'] },
  status: { phase: 'Active' },
};

test('markTerminating() sets the phase and drops the grace period', () => {
  const metadata = { name: 'a', deletionTimestamp: now };
  const marked = markTerminating({
    ...active,
    metadata: { ...metadata, deletionGracePeriodSeconds: 0 },
  });
  assert.deepEqual(marked, { ...active, metadata, status: { phase: 'Terminating' } });
  assert.ok(isTerminating(marked));
});

test('hasOwnFinalizers() reads the spec', () => {
  const held = { ...active, spec: {}, metadata: { name: 'a', finalizers: ['example.com/hold'] } };
  assert.equal(hasOwnFinalizers(active), true);
  assert.equal(hasOwnFinalizers(held), false);
});
