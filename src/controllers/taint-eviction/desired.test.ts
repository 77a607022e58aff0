import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Taint } from '../../kinds/node/types.ts';
import type { Toleration } from '../../kinds/pod/affinity.ts';
import { examplePod } from '../../kinds/pod/example.ts';
import { evictingTaints, evictionTime } from './desired.ts';

const added = '2026-01-01T00:10:00Z';
const addedMs = Date.parse(added);
const lost: Taint = {
  key: 'node.kubernetes.io/unreachable',
  effect: 'NoExecute',
  timeAdded: added,
};
const byHand: Taint = { key: 'example.com/maintenance', effect: 'NoExecute' };
const seenMs = addedMs + 7000;

const forSeconds = (key: string, tolerationSeconds?: number): Toleration => ({
  key,
  operator: 'Exists',
  effect: 'NoExecute',
  ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
});

type Case = {
  readonly title: string;
  readonly taints: readonly Taint[];
  readonly tolerations?: readonly Toleration[];
  readonly created?: string;
  readonly going?: boolean;
  /** Seconds after the first taint was added; undefined: never; 'now': at once. */
  readonly leaves: number | 'now' | undefined;
};

const cases: readonly Case[] = [
  { title: 'keeps a pod without NoExecute taints', taints: [], leaves: undefined },
  { title: 'evicts a pod without toleration at once', taints: [lost], leaves: 'now' },
  {
    title: 'evicts a pod after its toleration seconds',
    taints: [lost],
    tolerations: [forSeconds(lost.key, 300)],
    leaves: 300,
  },
  {
    title: 'keeps a pod that tolerates without limit',
    taints: [lost],
    tolerations: [forSeconds(lost.key)],
    leaves: undefined,
  },
  {
    title: 'uses the first matching toleration',
    taints: [lost],
    tolerations: [forSeconds('', 60), forSeconds(lost.key)],
    leaves: 60,
  },
  {
    title: 'uses the shortest toleration of several taints',
    taints: [lost, byHand],
    tolerations: [forSeconds(lost.key, 300), forSeconds(byHand.key, 10)],
    leaves: 17,
  },
  {
    title: 'evicts a pod at once that tolerates only one of two taints',
    taints: [lost, byHand],
    tolerations: [forSeconds(lost.key)],
    leaves: 'now',
  },
  {
    title: 'counts from the creation of a pod that is newer than the taint',
    taints: [lost],
    tolerations: [forSeconds(lost.key, 300)],
    created: '2026-01-01T00:20:00Z',
    leaves: 900,
  },
  {
    title: 'treats negative seconds as 0',
    taints: [lost],
    tolerations: [forSeconds(lost.key, -5)],
    leaves: 0,
  },
  { title: 'ignores a pod that is being deleted', taints: [lost], going: true, leaves: undefined },
];

for (const { title, taints, tolerations, created, going, leaves } of cases) {
  test(`evictionTime() ${title}`, () => {
    const pod = examplePod({
      metadata: {
        name: 'p',
        creationTimestamp: created ?? '2026-01-01T00:00:00Z',
        ...(going ? { deletionTimestamp: added } : {}),
      },
      spec: { ...(tolerations === undefined ? {} : { tolerations }) },
    });
    const wanted = leaves === 'now' ? 0 : leaves === undefined ? leaves : addedMs + leaves * 1000;
    assert.equal(evictionTime({ pod, taints, seenMs: () => seenMs }), wanted);
  });
}

test('evictingTaints() returns the NoExecute taints', () => {
  const taints = [lost, { key: 'a', effect: 'NoSchedule' }, byHand];
  assert.deepEqual(evictingTaints({ spec: { taints } }), [lost, byHand]);
  assert.deepEqual(evictingTaints(undefined), []);
});
