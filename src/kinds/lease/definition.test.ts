import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { leaseDefinition } from './definition.ts';
import type { Lease, LeaseSpec } from './types.ts';

function lease(spec: LeaseSpec): Lease {
  return { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata: { name: 'a' }, spec };
}

const cases: readonly [string, LeaseSpec, readonly string[]][] = [
  ['an empty spec', {}, []],
  ['no transitions', { leaseDurationSeconds: 1, leaseTransitions: 0 }, []],
  [
    'numbers below their least',
    { leaseDurationSeconds: 0, leaseTransitions: -1 },
    [
      'spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
      'spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0',
    ],
  ],
];

for (const [name, spec, want] of cases) {
  test(`validation of a lease with ${name}`, () => {
    assert.deepEqual(leaseDefinition.create.validateCreate(lease(spec)).map(errorText), want);
  });
}

test('the fields of coordinated leader election are dropped', () => {
  const given = lease({ holderIdentity: 'me', strategy: 'OldestEmulationVersion' });
  const kept = leaseDefinition.create.prepareCreate?.(given, { now: '2026-01-02T03:04:05Z' });
  assert.deepEqual(kept?.spec, { holderIdentity: 'me' });
});
