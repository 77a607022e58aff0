import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeNamed } from '../../kinds/node/example.ts';
import { requestsOf } from '../../kinds/pod/requests.ts';
import { nodeState, podNamed, requesting } from './example.ts';
import { freeShare, hasPortConflict, shortages } from './resources.ts';

const container = (name: string, cpu: string, more: object = {}) => ({
  name,
  image: 'i',
  resources: { requests: { cpu } },
  ...more,
});

const sums: readonly (readonly [string, object, number])[] = [
  ['containers are added', { containers: [container('a', '100m'), container('b', '200m')] }, 300],
  [
    'the largest init container counts',
    { initContainers: [container('i', '2')], containers: [container('a', '100m')] },
    2000,
  ],
  [
    'sidecars are added to both',
    {
      initContainers: [container('s', '100m', { restartPolicy: 'Always' }), container('i', '300m')],
      containers: [container('a', '100m')],
    },
    400,
  ],
  [
    'pod-level resources take precedence',
    { containers: [container('a', '100m')], resources: { requests: { cpu: '1' } } },
    1000,
  ],
  ['overhead is added', { containers: [container('a', '100m')], overhead: { cpu: '50m' } }, 150],
];

for (const [title, spec, want] of sums) {
  test(`requestsOf() counts that ${title}`, () => {
    assert.equal(requestsOf(podNamed('p', spec)).get('cpu'), want);
  });
}

test('shortages() includes the requests of existing pods', () => {
  const node = nodeNamed('a');
  const half = podNamed('q', requesting({ cpu: '1' }));
  assert.deepEqual(shortages(podNamed('p', requesting({ cpu: '1' })), nodeState(node, half)), []);
  assert.deepEqual(shortages(podNamed('p', requesting({ cpu: '1001m' })), nodeState(node, half)), [
    'Insufficient cpu',
  ]);
});

test('shortages() has no limit where a node has no allocatable quantity', () => {
  const silent = nodeNamed('a', { status: { allocatable: {}, capacity: {} } });
  assert.deepEqual(shortages(podNamed('p', requesting({ cpu: '99' })), nodeState(silent)), []);
});

test('freeShare() averages free CPU and memory', () => {
  const pod = podNamed('p', requesting({ cpu: '1', memory: '1Gi' }));
  assert.equal(freeShare(pod, nodeState(nodeNamed('a'))), (50 + 75) / 2);
});

const port = (hostPort: number, more: object = {}) =>
  podNamed('p', {
    containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 1, hostPort, ...more }] }],
  });
const conflicts: readonly (readonly [string, ReturnType<typeof port>, boolean])[] = [
  ['the same port', port(80), true],
  ['another port', port(81), false],
  ['another protocol', port(80, { protocol: 'UDP' }), false],
  ['one address against all', port(80, { hostIP: '10.0.0.1' }), true],
];

for (const [title, other, want] of conflicts) {
  test(`hasPortConflict() with ${title}`, () => {
    assert.equal(hasPortConflict(port(80), [other]), want);
  });
}

test('hasPortConflict() with two addresses', () => {
  assert.equal(
    hasPortConflict(port(80, { hostIP: '10.0.0.1' }), [port(80, { hostIP: '10.0.0.2' })]),
    false,
  );
});
