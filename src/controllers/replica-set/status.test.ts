import assert from 'node:assert/strict';
import { test } from 'node:test';
import { now, podOf } from '../../kinds/pod/example.ts';
import { availableIn } from '../../kinds/pod/readiness.ts';
import { exampleReplicaSet } from './example.ts';
import { desiredStatus, nextAvailableMs } from './status.ts';

test('desiredStatus() counts pods by state', () => {
  const owner = exampleReplicaSet({ spec: { minReadySeconds: 60 } });
  const unlabelled = podOf('other', 100, { metadata: { name: 'other', labels: {} } });
  const pods = [podOf('ready', 30), podOf('available', 90), podOf('not-ready'), unlabelled];
  assert.deepEqual(desiredStatus({ owner, pods, terminating: [podOf('going')], now }), {
    replicas: 4,
    fullyLabeledReplicas: 3,
    readyReplicas: 3,
    availableReplicas: 2,
    terminatingReplicas: 1,
    observedGeneration: 1,
  });
});

test('desiredStatus() returns the same object when nothing changed', () => {
  const status = { replicas: 0, terminatingReplicas: 0, observedGeneration: 1 };
  const owner = exampleReplicaSet({ status });
  assert.equal(desiredStatus({ owner, pods: [], terminating: [], now }), status);
});

test('desiredStatus() reports a failure with the time of its start', () => {
  const failure = { reason: 'FailedCreate', message: 'quota' } as const;
  const owner = exampleReplicaSet();
  const failed = desiredStatus({ owner, pods: [], failure, now });
  assert.deepEqual(failed.conditions, [
    {
      type: 'ReplicaFailure',
      status: 'True',
      lastTransitionTime: '2026-01-02T00:00:00Z',
      reason: 'FailedCreate',
      message: 'quota',
    },
  ]);
  const next = { ...owner, status: failed };
  const later = { reason: 'FailedCreate', message: 'other' } as const;
  assert.equal(desiredStatus({ owner: next, pods: [], failure: later, now: now + 9000 }), failed);
  assert.equal(desiredStatus({ owner: next, pods: [], now }).conditions, undefined);
});

test('availableIn() and nextAvailableMs() return the remaining time', () => {
  assert.equal(availableIn(podOf('p'), 0, now), undefined);
  assert.equal(availableIn(podOf('p', 0), 0, now), 0);
  assert.equal(availableIn(podOf('p', 20), 60, now), 40_000);
  const owner = exampleReplicaSet({ spec: { minReadySeconds: 60 } });
  const pods = [podOf('a', 20), podOf('b', 50), podOf('c', 70), podOf('d')];
  assert.equal(nextAvailableMs(owner, pods, now), 10_000);
  assert.equal(nextAvailableMs(owner, [podOf('c', 70)], now), undefined);
});
