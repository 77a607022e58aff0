import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type DeletionReport,
  desiredConditions,
  estimateSeconds,
  type PodEnd,
  podGraceSeconds,
  type Remaining,
  retryAfterMs,
} from './desired.ts';

const empty: DeletionReport = { contentErrors: [], remaining: [] };
const left = (more: Partial<Remaining> = {}): Remaining => ({
  resource: 'configmaps',
  group: '',
  count: 1,
  finalizers: {},
  graceSeconds: 0,
  ...more,
});

const conditions: readonly {
  name: string;
  report: DeletionReport;
  wanted: readonly { type: string; status: string; reason: string; message: string }[];
}[] = [
  {
    name: 'are all False when nothing remains',
    report: empty,
    wanted: [
      {
        type: 'NamespaceDeletionDiscoveryFailure',
        status: 'False',
        reason: 'ResourcesDiscovered',
        message: 'All resources successfully discovered',
      },
      {
        type: 'NamespaceDeletionGroupVersionParsingFailure',
        status: 'False',
        reason: 'ParsedGroupVersions',
        message: 'All legacy kube types successfully parsed',
      },
      {
        type: 'NamespaceDeletionContentFailure',
        status: 'False',
        reason: 'ContentDeleted',
        message: 'All content successfully deleted, may be waiting on finalization',
      },
      {
        type: 'NamespaceContentRemaining',
        status: 'False',
        reason: 'ContentRemoved',
        message: 'All content successfully removed',
      },
      {
        type: 'NamespaceFinalizersRemaining',
        status: 'False',
        reason: 'ContentHasNoFinalizers',
        message: 'All content-preserving finalizers finished',
      },
    ],
  },
  {
    name: 'report what remains and its finalizers',
    report: {
      ...empty,
      remaining: [
        left({ count: 2, finalizers: { 'example.com/hold': 2 } }),
        left({
          resource: 'roles',
          group: 'rbac.authorization.k8s.io',
          finalizers: { 'example.com/hold': 1 },
        }),
      ],
    },
    wanted: [
      {
        type: 'NamespaceContentRemaining',
        status: 'True',
        reason: 'SomeResourcesRemain',
        message:
          'Some resources are remaining: configmaps. has 2 resource instances, roles.rbac.authorization.k8s.io has 1 resource instances',
      },
      {
        type: 'NamespaceFinalizersRemaining',
        status: 'True',
        reason: 'SomeFinalizersRemain',
        message:
          'Some content in the namespace has finalizers remaining: example.com/hold in 3 resource instances',
      },
    ],
  },
  {
    name: 'report failures',
    report: { discoveryError: 'no answer', contentErrors: ['b', 'a'], remaining: [] },
    wanted: [
      {
        type: 'NamespaceDeletionDiscoveryFailure',
        status: 'True',
        reason: 'DiscoveryFailed',
        message: 'no answer',
      },
      {
        type: 'NamespaceDeletionContentFailure',
        status: 'True',
        reason: 'ContentDeletionFailed',
        message: 'Failed to delete all resource types, 2 remaining: a, b',
      },
    ],
  },
];
for (const { name, report, wanted } of conditions) {
  test(`desiredConditions() ${name}`, () => {
    const all = desiredConditions([], report, 0);
    assert.equal(all.length, 5);
    for (const condition of wanted) {
      const found = all.find(({ type }) => type === condition.type);
      assert.deepEqual(found, { ...condition, lastTransitionTime: '1970-01-01T00:00:00Z' });
    }
  });
}

test('desiredConditions() keeps unchanged conditions and those of other writers', () => {
  const other = { type: 'Mine', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z' };
  const before = desiredConditions([other], empty, 0);
  assert.equal(desiredConditions(before, empty, 60_000), before);
  const after = desiredConditions(before, { ...empty, remaining: [left()] }, 60_000);
  assert.deepEqual(
    after.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]),
    [
      ['Mine', '2020-01-01T00:00:00Z'],
      ['NamespaceDeletionDiscoveryFailure', '1970-01-01T00:00:00Z'],
      ['NamespaceDeletionGroupVersionParsingFailure', '1970-01-01T00:00:00Z'],
      ['NamespaceDeletionContentFailure', '1970-01-01T00:00:00Z'],
      ['NamespaceContentRemaining', '1970-01-01T00:01:00Z'],
      ['NamespaceFinalizersRemaining', '1970-01-01T00:00:00Z'],
    ],
  );
});

const estimates: readonly {
  name: string;
  remaining: readonly Remaining[];
  seconds: number;
  waitMs: number;
}[] = [
  { name: 'nothing', remaining: [], seconds: 0, waitMs: 1000 },
  { name: 'pods with 30 s', remaining: [left({ graceSeconds: 30 })], seconds: 30, waitMs: 16_000 },
  { name: 'a finalizer', remaining: [left({ finalizers: { a: 1 } })], seconds: 15, waitMs: 8000 },
  {
    name: 'both',
    remaining: [left({ graceSeconds: 10 }), left({ finalizers: { a: 1 } })],
    seconds: 15,
    waitMs: 8000,
  },
];
for (const { name, remaining, seconds, waitMs } of estimates) {
  test(`estimateSeconds() of ${name}`, () => {
    assert.equal(estimateSeconds({ ...empty, remaining }), seconds);
    assert.equal(retryAfterMs(seconds), waitMs);
  });
}

const pod = (seconds: number, phase = 'Running'): PodEnd => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: {},
  spec: { terminationGracePeriodSeconds: seconds },
  status: { phase },
});
const graces: readonly {
  name: string;
  pods: readonly PodEnd[];
  elapsedMs: number;
  seconds: number;
}[] = [
  { name: 'no pods', pods: [], elapsedMs: 0, seconds: 0 },
  { name: 'the longest grace period', pods: [pod(30), pod(60)], elapsedMs: 0, seconds: 60 },
  {
    name: 'finished pods as 0',
    pods: [pod(30, 'Succeeded'), pod(60, 'Failed'), pod(5)],
    elapsedMs: 0,
    seconds: 5,
  },
  { name: 'an expired grace period as 0', pods: [pod(30)], elapsedMs: 30_000, seconds: 0 },
];
for (const { name, pods, elapsedMs, seconds } of graces) {
  test(`podGraceSeconds() counts ${name}`, () => {
    assert.equal(podGraceSeconds(pods, 1000, 1000 + elapsedMs), seconds);
  });
}
