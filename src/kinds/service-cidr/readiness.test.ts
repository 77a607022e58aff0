import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isReady } from './readiness.ts';
import type { ServiceCIDR } from './types.ts';

function range(status: 'True' | 'False' | undefined, deletionTimestamp?: string): ServiceCIDR {
  const ready = {
    type: 'Ready',
    lastTransitionTime: '2026-01-01T00:00:00Z',
    reason: '',
    message: '',
  };
  return {
    kind: 'ServiceCIDR',
    apiVersion: 'networking.k8s.io/v1',
    metadata: { name: 'more', ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) },
    spec: {},
    status: status === undefined ? {} : { conditions: [{ ...ready, status }] },
  };
}

test('isReady() is true for a range without a condition (IPA-26)', () => {
  assert.equal(isReady(range(undefined)), true);
  assert.equal(isReady(range('True')), true);
});

test('isReady() is false for a range that is not ready or is being deleted (IPA-12, IPA-24)', () => {
  assert.equal(isReady(range('False')), false);
  assert.equal(isReady(range('True', '2026-01-01T00:00:00Z')), false);
});
