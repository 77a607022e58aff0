import assert from 'node:assert/strict';
import { test } from 'node:test';
import { now } from '../../kinds/pod/example.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { exampleStatefulSet, member } from './example.ts';
import { desiredStatus, nextAvailableMs } from './status.ts';

const statusOf = (pods: readonly Pod[], set = exampleStatefulSet()) =>
  desiredStatus({
    set,
    pods,
    currentRevision: 'old',
    updateRevision: 'new',
    collisionCount: 0,
    now,
  });

test('desiredStatus() counts pods by revision and state', () => {
  const set = exampleStatefulSet({ minReadySeconds: 30 });
  const pods = [
    member(0, { revision: 'old', readySeconds: 60 }),
    member(1, { revision: 'old', readySeconds: 60, isLeaving: true }),
    member(2, { readySeconds: 10 }),
  ];
  assert.deepEqual(statusOf(pods, set), {
    observedGeneration: 1,
    replicas: 3,
    readyReplicas: 3,
    currentReplicas: 1,
    updatedReplicas: 1,
    currentRevision: 'old',
    updateRevision: 'new',
    collisionCount: 0,
    availableReplicas: 2,
  });
  assert.equal(nextAvailableMs(set, pods, now), 20_000);
});

test('desiredStatus() ends a roll-out when all pods are of the update and ready', () => {
  const all = statusOf([0, 1, 2].map((at) => member(at)));
  assert.equal(all.currentRevision, 'new');
  assert.equal(all.currentReplicas, 3);
  assert.equal(statusOf([member(0), member(1)]).currentRevision, 'old');
  const onDelete = exampleStatefulSet({ updateStrategy: { type: 'OnDelete' } });
  assert.equal(
    statusOf(
      [0, 1, 2].map((at) => member(at)),
      onDelete,
    ).currentRevision,
    'old',
  );
});

test('desiredStatus() returns the same object when nothing changes', () => {
  const set = exampleStatefulSet();
  const status = statusOf([], set);
  assert.equal(statusOf([], { ...set, status }), status);
});
