import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Node, nodeSchema } from '../../kinds/node/types.ts';
import { examplePod } from '../../kinds/pod/example.ts';
import { decode } from '../../schema/decode.ts';
import {
  hasStoppedReporting,
  judgeNode as judge,
  type NodeSituation,
  notReady,
} from './desired.ts';
import { desiredTaints, registersForMs } from './taints.ts';

const now = Date.parse('2026-01-02T00:01:00Z');
const heartbeat = '2026-01-02T00:00:00Z';

function node(
  ready?: string,
  more: { readonly spec?: object; readonly conditions?: readonly object[] } = {},
): Node {
  const condition = {
    type: 'Ready',
    status: ready,
    reason: 'Kubelet',
    message: 'm',
    lastHeartbeatTime: heartbeat,
    lastTransitionTime: heartbeat,
  };
  const { object } = decode(nodeSchema, {
    kind: 'Node',
    apiVersion: 'v1',
    metadata: { name: 'n', creationTimestamp: heartbeat },
    spec: more.spec ?? {},
    status: {
      conditions: [...(ready === undefined ? [] : [condition]), ...(more.conditions ?? [])],
    },
  });
  return object as Node;
}

const judgeNode = (given: Pick<NodeSituation, 'node' | 'observedMs' | 'now'>) =>
  judge({ ...given, monitorGraceMs: 50_000, startupGraceMs: 60_000 });

const written = (verdict: ReturnType<typeof judgeNode>) =>
  verdict.action === 'write'
    ? verdict.conditions.map((c) => `${c.type} ${c.status} ${c.reason}`)
    : [];

test('judgeNode() waits 50 seconds for a node that has reported, 60 for one that never has', () => {
  assert.deepEqual(judgeNode({ node: node('True'), observedMs: now - 20_000, now }), {
    action: 'wait',
    ms: 30_000,
  });
  assert.deepEqual(judgeNode({ node: node(), observedMs: now - 20_000, now }), {
    action: 'wait',
    ms: 40_000,
  });
});

test('judgeNode() sets the conditions of a node that stopped reporting to Unknown', () => {
  const verdict = judgeNode({ node: node('True'), observedMs: now - 50_000, now });
  assert.deepEqual(written(verdict), [
    'Ready Unknown NodeStatusUnknown',
    'MemoryPressure Unknown NodeStatusNeverUpdated',
    'DiskPressure Unknown NodeStatusNeverUpdated',
    'PIDPressure Unknown NodeStatusNeverUpdated',
  ]);
  assert.deepEqual(verdict.action === 'write' && verdict.conditions[0], {
    type: 'Ready',
    status: 'Unknown',
    lastHeartbeatTime: heartbeat,
    lastTransitionTime: '2026-01-02T00:01:00Z',
    reason: 'NodeStatusUnknown',
    message: 'Kubelet stopped posting node status.',
  });
});

test('judgeNode() reports a node that never posted a status', () => {
  const verdict = judgeNode({ node: node(), observedMs: now - 60_000, now });
  assert.equal(written(verdict)[0], 'Ready Unknown NodeStatusNeverUpdated');
});

test('judgeNode() leaves other conditions alone and writes once', () => {
  const other = {
    type: 'Custom',
    status: 'True',
    lastHeartbeatTime: null,
    lastTransitionTime: null,
  };
  const first = judgeNode({ node: node('True', { conditions: [other] }), observedMs: 0, now });
  const conditions = first.action === 'write' ? first.conditions : [];
  assert.deepEqual(conditions[1], other);
  const again = { ...node('True'), status: { ...node('True').status, conditions } };
  assert.deepEqual(judgeNode({ node: again, observedMs: 0, now }), { action: 'none' });
  assert.equal(hasStoppedReporting(again), true);
  assert.equal(hasStoppedReporting(node('False')), false);
});

const taints: readonly (readonly [string, Node, readonly string[]])[] = [
  ['a ready node', node('True'), []],
  ['a node that is not ready', node('False'), ['not-ready NoSchedule', 'not-ready NoExecute']],
  ['an unreachable node', node('Unknown'), ['unreachable NoSchedule', 'unreachable NoExecute']],
  [
    'a cordoned node',
    node('True', { spec: { unschedulable: true } }),
    ['unschedulable NoSchedule'],
  ],
  [
    'pressure',
    node('True', {
      conditions: [{ type: 'DiskPressure', status: 'True', lastHeartbeatTime: heartbeat }],
    }),
    ['disk-pressure NoSchedule'],
  ],
  [
    'a node that is ready again',
    node('True', {
      spec: {
        taints: [
          { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' },
          { key: 'node.kubernetes.io/mine', effect: 'NoSchedule' },
        ],
      },
    }),
    ['mine NoSchedule'],
  ],
  [
    'a node that has never reported',
    node(undefined, {
      spec: {
        unschedulable: true,
        taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }],
      },
    }),
    ['unschedulable NoSchedule'],
  ],
];

test('desiredTaints() leaves the taints of a node that is being registered', () => {
  const spec = { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] };
  const bare = node(undefined, { spec });
  const created = { ...bare.metadata, creationTimestamp: new Date(now).toISOString() };
  const young = { ...bare, metadata: created };
  const taintsAt = (ms: number) =>
    desiredTaints({ node: young, hasReadyNode: true, now: now + ms });
  assert.equal(taintsAt(2000), young.spec.taints);
  assert.deepEqual(taintsAt(3000), []);
  assert.deepEqual(
    [2000, 3000].map((ms) => registersForMs(young, now + ms)),
    [1000, undefined],
  );
});

for (const [title, given, want] of taints) {
  test(`desiredTaints() of ${title}`, () => {
    const found = desiredTaints({ node: given, hasReadyNode: true, now });
    assert.deepEqual(
      found.map(({ key, effect }) => `${key.replace('node.kubernetes.io/', '')} ${effect}`),
      want,
    );
    const after = { ...given, spec: { ...given.spec, taints: found } };
    assert.equal(desiredTaints({ node: after, hasReadyNode: true, now }), found);
  });
}

test('desiredTaints() evicts no pods when no node is ready', () => {
  const keys = (given: Node): readonly string[] =>
    desiredTaints({ node: given, hasReadyNode: false, now }).map(({ effect }) => effect);
  assert.deepEqual(keys(node('Unknown')), ['NoSchedule']);
  const unreachable = 'node.kubernetes.io/unreachable';
  const taints = [
    { key: unreachable, effect: 'NoSchedule' },
    { key: unreachable, effect: 'NoExecute' },
    { key: 'example.com/mine', effect: 'NoExecute' },
  ];
  assert.deepEqual(keys(node('Unknown', { spec: { taints } })), ['NoSchedule', 'NoExecute']);
});

test('notReady() changes the condition of ready pods only', () => {
  const ready = (status: string) =>
    examplePod({
      status: { conditions: [{ type: 'Ready', status, lastTransitionTime: heartbeat }] },
    });
  assert.equal(notReady(ready('False'), now), undefined);
  assert.equal(notReady(examplePod(), now), undefined);
  const condition = notReady(ready('True'), now);
  assert.equal(condition?.status, 'False');
  assert.equal(condition?.lastTransitionTime, '2026-01-02T00:01:00Z');
});
