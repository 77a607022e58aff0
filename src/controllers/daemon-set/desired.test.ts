import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeNamed } from '../../kinds/node/example.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { type DaemonSituation, planDaemonSet } from './desired.ts';
import { daemonOn, exampleDaemonSet, situationOf } from './example.ts';

const surge = exampleDaemonSet({ strategy: { maxSurge: 1, maxUnavailable: 0 } });
const onDelete = exampleDaemonSet({ spec: { updateStrategy: { type: 'OnDelete' } } });
const taint = (effect: string) => ({ spec: { taints: [{ key: 'k', effect }] } });
const ready = { readySeconds: 60 };
const old = { hash: 'old', ...ready };
const unscheduled = (node: string): Pod => {
  const { spec, ...pod } = daemonOn(node);
  const { nodeName: _, ...rest } = spec;
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }];
  const required = { nodeSelectorTerms: [{ matchFields }] };
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: required };
  return { ...pod, spec: { ...rest, affinity: { nodeAffinity } } };
};

/** What is created, on which nodes; what is deleted, by name. */
const plans: readonly (readonly [
  string,
  readonly Pod[],
  Partial<DaemonSituation>,
  { readonly create?: readonly string[]; readonly delete?: readonly string[] },
])[] = [
  ['no pods', [], {}, { create: ['a', 'b', 'c'] }],
  ['all pods', ['a', 'b', 'c'].map((node) => daemonOn(node)), {}, {}],
  ['pods that wait to be bound', ['a', 'b', 'c'].map(unscheduled), {}, {}],
  [
    'a pod that waits for a node that has gone',
    [...['a', 'b', 'c'].map((node) => daemonOn(node)), unscheduled('z')],
    {},
    { delete: ['new-z'] },
  ],
  [
    'two pods on a node',
    [daemonOn('a', { name: 'z' }), daemonOn('a', { name: 'y' })],
    { nodes: [nodeNamed('a')] },
    { delete: ['z'] },
  ],
  [
    'a node with a taint',
    [],
    { nodes: [nodeNamed('a', taint('NoSchedule')), nodeNamed('b', taint('PreferNoSchedule'))] },
    { create: ['b'] },
  ],
  [
    'a node whose taint came after the pod',
    [daemonOn('a'), daemonOn('b')],
    { nodes: [nodeNamed('a', taint('NoSchedule')), nodeNamed('b', taint('NoExecute'))] },
    { delete: ['new-b'] },
  ],
  [
    'a cordoned node',
    [],
    {
      nodes: [
        nodeNamed('a', {
          spec: {
            unschedulable: true,
            taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }],
          },
        }),
      ],
    },
    { create: ['a'] },
  ],
  [
    'a node selector',
    [daemonOn('a')],
    {
      set: exampleDaemonSet({ template: { nodeSelector: { disk: 'ssd' } } }),
      nodes: [nodeNamed('a'), nodeNamed('b', { labels: { disk: 'ssd' } })],
    },
    { create: ['b'], delete: ['new-a'] },
  ],
  [
    'a failed pod',
    [daemonOn('a', { phase: 'Failed' })],
    { nodes: [nodeNamed('a')] },
    { delete: ['new-a'] },
  ],
  [
    'a failed pod in back-off',
    [daemonOn('a', { phase: 'Failed' })],
    { nodes: [nodeNamed('a')], backOffOf: () => 700 },
    {},
  ],
  [
    'a failed pod that is being deleted',
    [daemonOn('a', { phase: 'Failed', isLeaving: true })],
    { nodes: [nodeNamed('a')] },
    { create: ['a'] },
  ],
  [
    'a pod that is being deleted',
    [daemonOn('a', { isLeaving: true })],
    { nodes: [nodeNamed('a')] },
    {},
  ],
  ['a new template', ['a', 'b', 'c'].map((node) => daemonOn(node, old)), {}, { delete: ['old-a'] }],
  [
    'a new template and an old pod that is not ready',
    [daemonOn('a', old), daemonOn('b', { hash: 'old' }), daemonOn('c', old)],
    {},
    { delete: ['old-b', 'old-a'] },
  ],
  [
    'a new pod that is not available yet',
    [daemonOn('a'), daemonOn('b', old), daemonOn('c', old)],
    {},
    {},
  ],
  [
    'an old pod that is being deleted',
    [daemonOn('a', { ...old, isLeaving: true }), daemonOn('b', old), daemonOn('c', old)],
    {},
    {},
  ],
  [
    'two that may be unavailable',
    ['a', 'b', 'c'].map((node) => daemonOn(node, old)),
    { set: exampleDaemonSet({ strategy: { maxUnavailable: '50%' } }) },
    { delete: ['old-a', 'old-b'] },
  ],
  [
    'a new template with OnDelete',
    ['a', 'b', 'c'].map((node) => daemonOn(node, old)),
    { set: onDelete },
    {},
  ],
  [
    'a surge that begins',
    ['a', 'b', 'c'].map((node) => daemonOn(node, old)),
    { set: surge },
    { create: ['a'] },
  ],
  [
    'a surge that waits',
    [daemonOn('a'), ...['a', 'b', 'c'].map((node) => daemonOn(node, old))],
    { set: surge },
    {},
  ],
  [
    'a surge that is ready on a node',
    [daemonOn('a', ready), ...['a', 'b', 'c'].map((node) => daemonOn(node, old))],
    { set: surge },
    { delete: ['old-a'] },
  ],
  [
    'a surge beside an old pod that is not ready',
    [daemonOn('a', { hash: 'old' }), daemonOn('a'), daemonOn('b', ready), daemonOn('c', ready)],
    { set: surge },
    { delete: ['old-a'] },
  ],
  [
    'a surge beside a pod that is being deleted',
    [daemonOn('a', { ...old, isLeaving: true }), daemonOn('b', ready), daemonOn('c', ready)],
    { set: surge },
    { create: ['a'] },
  ],
];

for (const [title, pods, more, want] of plans) {
  test(`planDaemonSet() with ${title}`, () => {
    const plan = planDaemonSet(situationOf(pods, more));
    assert.deepEqual(plan.create, want.create ?? []);
    assert.deepEqual(
      plan.delete.map(({ metadata }) => metadata.name),
      want.delete ?? [],
    );
  });
}

test('planDaemonSet() reports pods that ended, and when to try again', () => {
  const pods = [daemonOn('a', { phase: 'Failed' }), daemonOn('b', { phase: 'Succeeded' })];
  const plan = planDaemonSet(situationOf(pods, { backOffOf: (n) => (n === 'a' ? 700 : 0) }));
  assert.deepEqual(
    plan.ended.map(({ pod, node }) => [pod.metadata.name, node]),
    [['new-b', 'b']],
  );
  assert.equal(plan.retryAfterMs, 700);
});
