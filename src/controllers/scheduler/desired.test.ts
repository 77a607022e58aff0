import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeNamed } from '../../kinds/node/example.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { selectNode, waitsForNode } from './desired.ts';
import { clusterOf, nodeState, podNamed, requesting } from './example.ts';

const taint = (effect: string) => ({ spec: { taints: [{ key: 'k', value: 'v', effect }] } });
const hostPort = (port: object) => ({ containers: [{ name: 'c', image: 'i', ports: [port] }] });

test('selectNode() returns no message while no node is ready', () => {
  const pod = podNamed('p');
  const fresh = nodeNamed('a', { status: { conditions: [] } });
  assert.deepEqual(selectNode(pod, clusterOf()), { isPremature: true });
  assert.deepEqual(selectNode(pod, clusterOf(nodeState(fresh))), { isPremature: true });
});

const refusals: readonly (readonly [string, object, ReturnType<typeof nodeState>, string])[] = [
  [
    'a cordoned node',
    {},
    nodeState(nodeNamed('a', { spec: { unschedulable: true } })),
    '1 node(s) were unschedulable',
  ],
  [
    'a taint',
    {},
    nodeState(nodeNamed('a', taint('NoSchedule'))),
    '1 node(s) had untolerated taint(s)',
  ],
  [
    'a taint that also evicts',
    {},
    nodeState(nodeNamed('a', taint('NoExecute'))),
    '1 node(s) had untolerated taint(s)',
  ],
  [
    'a missing label',
    { nodeSelector: { disk: 'ssd' } },
    nodeState(nodeNamed('a')),
    "1 node(s) didn't match Pod's node affinity/selector",
  ],
  [
    'a host port in use',
    hostPort({ containerPort: 80, hostPort: 80 }),
    nodeState(nodeNamed('a'), podNamed('q', hostPort({ containerPort: 8080, hostPort: 80 }))),
    "1 node(s) didn't have free ports for the requested pod ports",
  ],
  [
    'insufficient cpu and memory',
    requesting({ cpu: '3', memory: '8Gi' }),
    nodeState(nodeNamed('a')),
    '1 Insufficient cpu, 1 Insufficient memory',
  ],
  [
    'an unknown resource',
    requesting({ 'example.com/gpu': '1' }),
    nodeState(nodeNamed('a')),
    '1 Insufficient example.com/gpu',
  ],
  [
    'a full node',
    {},
    nodeState(nodeNamed('a', { status: { allocatable: { pods: '1' } } }), podNamed('q')),
    '1 Too many pods',
  ],
];

for (const [title, spec, state, want] of refusals) {
  test(`selectNode() rejects ${title}`, () => {
    // Another node is ready but never feasible.
    const ready = nodeState(nodeNamed('z', { spec: { unschedulable: true } }));
    const answer = selectNode(podNamed('p', spec), clusterOf(state, ready));
    const counted =
      want === '1 node(s) were unschedulable'
        ? '2 node(s) were unschedulable'
        : `${want}, 1 node(s) were unschedulable`;
    const texts = counted.split(', ').sort().join(', ');
    assert.deepEqual(answer, { message: `0/2 nodes are available: ${texts}.` });
  });
}

const choices: readonly (readonly [
  string,
  Pod,
  readonly ReturnType<typeof nodeState>[],
  string,
])[] = [
  [
    'a node whose taint is tolerated',
    podNamed('p', { tolerations: [{ key: 'k', operator: 'Equal', value: 'v' }] }),
    [nodeState(nodeNamed('a', taint('NoSchedule')))],
    'a',
  ],
  [
    'the node without an avoided taint',
    podNamed('p'),
    [
      nodeState(nodeNamed('a', taint('PreferNoSchedule'))),
      nodeState(nodeNamed('b'), podNamed('q')),
    ],
    'b',
  ],
  [
    'the node with fewer requests',
    podNamed('p'),
    [nodeState(nodeNamed('a'), podNamed('q')), nodeState(nodeNamed('b'))],
    'b',
  ],
  [
    'the node with more free resources',
    podNamed('p', requesting({ cpu: '1' })),
    [
      nodeState(nodeNamed('a')),
      nodeState(nodeNamed('b', { status: { allocatable: { cpu: '8' } } })),
    ],
    'b',
  ],
  [
    'the first by name of equal nodes',
    podNamed('p'),
    [nodeState(nodeNamed('b')), nodeState(nodeNamed('a'))],
    'a',
  ],
  [
    'the preferred node',
    podNamed('p', {
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            {
              weight: 1,
              preference: { matchExpressions: [{ key: 'zone', operator: 'In', values: ['b'] }] },
            },
          ],
        },
      },
    }),
    [nodeState(nodeNamed('a')), nodeState(nodeNamed('b', { labels: { zone: 'b' } }))],
    'b',
  ],
];

for (const [title, pod, nodes, want] of choices) {
  test(`selectNode() selects ${title}`, () => {
    assert.deepEqual(selectNode(pod, clusterOf(...nodes)), { node: want });
  });
}

test('selectNode() spreads replicas of one owner', () => {
  const ownerReferences = [
    { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'r', controller: true },
  ];
  const replica = (name: string) => podNamed(name, {}, { ownerReferences });
  const nodes = [
    nodeState(nodeNamed('a'), replica('x')),
    nodeState(nodeNamed('b'), podNamed('y'), podNamed('z')),
  ];
  assert.deepEqual(selectNode(replica('p'), clusterOf(...nodes)), { node: 'b' });
});

test('waitsForNode() is false for pods of other schedulers', () => {
  const going = { deletionTimestamp: '2026-01-01T00:00:00Z' };
  assert.equal(waitsForNode(podNamed('p')), true);
  assert.equal(waitsForNode(podNamed('p', { nodeName: 'a' })), false);
  assert.equal(waitsForNode(podNamed('p', { schedulerName: 'mine' })), false);
  assert.equal(waitsForNode(podNamed('p', { schedulingGates: [{ name: 'g' }] })), false);
  assert.equal(waitsForNode(podNamed('p', {}, going)), false);
  assert.equal(waitsForNode({ ...podNamed('p'), status: { phase: 'Failed' } }), false);
});
