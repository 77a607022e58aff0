import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFinalized, isTerminating, markTerminating } from './life-cycle.ts';
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

const ends: readonly [string, Namespace, boolean][] = [
  ['a finalizer of the spec', active, false],
  ['no finalizer', { ...active, spec: {} }, true],
  [
    'a finalizer of the metadata',
    { ...active, spec: {}, metadata: { name: 'a', finalizers: ['example.com/hold'] } },
    false,
  ],
];

for (const [name, namespace, want] of ends) {
  test(`isFinalized() is ${want} with ${name}`, () => assert.equal(isFinalized(namespace), want));
}
