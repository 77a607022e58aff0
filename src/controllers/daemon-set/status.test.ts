import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeNamed } from '../../kinds/node/example.ts';
import { now } from '../../kinds/pod/example.ts';
import { daemonOn, exampleDaemonSet, situationOf } from './example.ts';
import { desiredStatus, nextAvailableMs } from './status.ts';

const nodes = [
  nodeNamed('a'),
  nodeNamed('b'),
  nodeNamed('c'),
  nodeNamed('tainted', { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } }),
];

test('desiredStatus() counts nodes by what they should have and have', () => {
  const set = exampleDaemonSet({ spec: { minReadySeconds: 30 } });
  const pods = [
    daemonOn('a', { readySeconds: 60 }),
    daemonOn('b', { readySeconds: 10, hash: 'old' }),
    daemonOn('tainted'),
  ];
  assert.deepEqual(desiredStatus(situationOf(pods, { set, nodes })), {
    currentNumberScheduled: 2,
    numberMisscheduled: 1,
    desiredNumberScheduled: 3,
    numberReady: 2,
    observedGeneration: 1,
    updatedNumberScheduled: 1,
    numberAvailable: 1,
    numberUnavailable: 2,
  });
  assert.equal(nextAvailableMs(set, pods, now), 20_000);
});

test('desiredStatus() retains conditions and returns the same object when nothing changes', () => {
  const set = exampleDaemonSet();
  const condition = { type: 'X', status: 'True', lastTransitionTime: null };
  const status = desiredStatus(
    situationOf([], {
      set: { ...set, status: { ...set.status, conditions: [condition], collisionCount: 2 } },
    }),
  );
  assert.deepEqual(status.conditions, [condition]);
  assert.equal(status.collisionCount, 2);
  assert.equal(desiredStatus(situationOf([], { set: { ...set, status } })), status);
});
