import assert from 'node:assert/strict';
import { test } from 'node:test';
import { now, podOf } from '../../kinds/pod/example.ts';
import { planReplicas } from './desired.ts';
import { exampleReplicaSet } from './example.ts';

const plan = (replicas: number, count: number) => {
  const pods = Array.from({ length: count }, (_, index) => podOf(`p${index}`, 100 + index));
  return planReplicas({
    owner: exampleReplicaSet({ spec: { replicas } }),
    pods,
    related: pods,
    now,
  });
};

test('planReplicas() creates missing pods and deletes surplus ones', () => {
  assert.deepEqual(plan(3, 1), { create: 2, delete: [] });
  assert.deepEqual(plan(3, 3), { create: 0, delete: [] });
  assert.equal(plan(1, 3).delete.length, 2);
  assert.equal(plan(0, 3).delete.length, 3);
});

test('planReplicas() changes at most 500 pods in one sync', () => {
  assert.equal(plan(800, 0).create, 500);
  assert.equal(plan(0, 600).delete.length, 500);
});

test('planReplicas() leaves the pods of a deleted owner to the garbage collector', () => {
  const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z' };
  const owner = exampleReplicaSet({ metadata });
  assert.deepEqual(planReplicas({ owner, pods: [], related: [], now }), { create: 0, delete: [] });
});
