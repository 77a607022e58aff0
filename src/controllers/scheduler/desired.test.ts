import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../kinds/pod/types.ts';
import { placePod, waitsForNode } from './desired.ts';
import { clusterOf, nodeNamed, place, podNamed, requesting } from './example.ts';

const taint = (effect: string) => ({ spec: { taints: [{ key: 'k', value: 'v', effect }] } });
const hostPort = (port: object) => ({ containers: [{ name: 'c', image: 'i', ports: [port] }] });

test('placePod() says nothing while no node is ready', () => {
  const pod = podNamed('p');
  const fresh = nodeNamed('a', { status: { conditions: [] } });
  assert.deepEqual(placePod(pod, clusterOf()), { isPremature: true });
  assert.deepEqual(placePod(pod, clusterOf(place(fresh))), { isPremature: true });
});

const refusals: readonly (readonly [string, object, ReturnType<typeof place>, string])[] = [
  [
    'a cordoned node',
    {},
    place(nodeNamed('a', { spec: { unschedulable: true } })),
    '1 node(s) were unschedulable',
  ],
  ['a taint', {}, place(nodeNamed('a', taint('NoSchedule'))), '1 node(s) had untolerated taint(s)'],
  [
    'a taint that also evicts',
    {},
    place(nodeNamed('a', taint('NoExecute'))),
    '1 node(s) had untolerated taint(s)',
  ],
  [
    'a missing label',
    { nodeSelector: { disk: 'ssd' } },
    place(nodeNamed('a')),
    "1 node(s) didn't match Pod's node affinity/selector",
  ],
  [
    'a taken host port',
    hostPort({ containerPort: 80, hostPort: 80 }),
    place(nodeNamed('a'), podNamed('q', hostPort({ containerPort: 8080, hostPort: 80 }))),
    "1 node(s) didn't have free ports for the requested pod ports",
  ],
  [
    'want of cpu and memory',
    requesting({ cpu: '3', memory: '8Gi' }),
    place(nodeNamed('a')),
    '1 Insufficient cpu, 1 Insufficient memory',
  ],
  [
    'an unknown resource',
    requesting({ 'example.com/gpu': '1' }),
    place(nodeNamed('a')),
    '1 Insufficient example.com/gpu',
  ],
  [
    'a full node',
    {},
    place(nodeNamed('a', { status: { allocatable: { pods: '1' } } }), podNamed('q')),
    '1 Too many pods',
  ],
];

for (const [title, spec, state, want] of refusals) {
  test(`placePod() refuses ${title}`, () => {
    // Another node is ready, so that there is a cluster, and never fits.
    const ready = place(nodeNamed('z', { spec: { unschedulable: true } }));
    const answer = placePod(podNamed('p', spec), clusterOf(state, ready));
    const counted =
      want === '1 node(s) were unschedulable'
        ? '2 node(s) were unschedulable'
        : `${want}, 1 node(s) were unschedulable`;
    const texts = counted.split(', ').sort().join(', ');
    assert.deepEqual(answer, { message: `0/2 nodes are available: ${texts}.` });
  });
}

const choices: readonly (readonly [string, Pod, readonly ReturnType<typeof place>[], string])[] = [
  [
    'a node whose taint is tolerated',
    podNamed('p', { tolerations: [{ key: 'k', operator: 'Equal', value: 'v' }] }),
    [place(nodeNamed('a', taint('NoSchedule')))],
    'a',
  ],
  [
    'the node without an avoided taint',
    podNamed('p'),
    [place(nodeNamed('a', taint('PreferNoSchedule'))), place(nodeNamed('b'), podNamed('q'))],
    'b',
  ],
  [
    'the emptier node',
    podNamed('p'),
    [place(nodeNamed('a'), podNamed('q')), place(nodeNamed('b'))],
    'b',
  ],
  [
    'the node with more left',
    podNamed('p', requesting({ cpu: '1' })),
    [place(nodeNamed('a')), place(nodeNamed('b', { status: { allocatable: { cpu: '8' } } }))],
    'b',
  ],
  [
    'the first by name of equal nodes',
    podNamed('p'),
    [place(nodeNamed('b')), place(nodeNamed('a'))],
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
    [place(nodeNamed('a')), place(nodeNamed('b', { labels: { zone: 'b' } }))],
    'b',
  ],
];

for (const [title, pod, nodes, want] of choices) {
  test(`placePod() takes ${title}`, () => {
    assert.deepEqual(placePod(pod, clusterOf(...nodes)), { node: want });
  });
}

test('placePod() keeps replicas of one owner apart', () => {
  const ownerReferences = [
    { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'r', controller: true },
  ];
  const replica = (name: string) => podNamed(name, {}, { ownerReferences });
  const nodes = [
    place(nodeNamed('a'), replica('x')),
    place(nodeNamed('b'), podNamed('y'), podNamed('z')),
  ];
  assert.deepEqual(placePod(replica('p'), clusterOf(...nodes)), { node: 'b' });
});

test('waitsForNode() leaves alone what is not for this scheduler', () => {
  const going = { deletionTimestamp: '2026-01-01T00:00:00Z' };
  assert.equal(waitsForNode(podNamed('p')), true);
  assert.equal(waitsForNode(podNamed('p', { nodeName: 'a' })), false);
  assert.equal(waitsForNode(podNamed('p', { schedulerName: 'mine' })), false);
  assert.equal(waitsForNode(podNamed('p', { schedulingGates: [{ name: 'g' }] })), false);
  assert.equal(waitsForNode(podNamed('p', {}, going)), false);
  assert.equal(waitsForNode({ ...podNamed('p'), status: { phase: 'Failed' } }), false);
});
