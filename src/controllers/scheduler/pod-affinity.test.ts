import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeNamed } from '../../kinds/node/example.ts';
import { clusterOf, nodeState, podNamed } from './example.ts';
import { affinityPreference, affinityProblem, spreadProblem } from './pod-affinity.ts';

const term = (topologyKey: string, more: object = {}) => ({
  topologyKey,
  labelSelector: { matchLabels: { app: 'web' } },
  ...more,
});
const anti = (...terms: object[]) => ({
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
});
const near = (...terms: object[]) => ({
  affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
});
const host = 'kubernetes.io/hostname';
const inZone = (name: string, zone: string) => nodeNamed(name, { labels: { zone } });

const other = podNamed('other');
const taken = nodeState(inZone('a', 'z1'), other);
const neighbour = nodeState(inZone('b', 'z1'));
const free = nodeState(inZone('c', 'z2'));
const cluster = clusterOf(taken, neighbour, free);

const notFar = "node(s) didn't match pod anti-affinity rules";
const notNear = "node(s) didn't match pod affinity rules";
const cases: readonly (readonly [string, object, readonly (string | undefined)[]])[] = [
  ['no affinity', {}, [undefined, undefined, undefined]],
  ['anti-affinity by node', anti(term(host)), [notFar, undefined, undefined]],
  ['anti-affinity by zone', anti(term('zone')), [notFar, notFar, undefined]],
  [
    'anti-affinity to another namespace',
    anti(term(host, { namespaces: ['else'] })),
    [undefined, undefined, undefined],
  ],
  [
    'anti-affinity to all namespaces',
    anti(term(host, { namespaceSelector: {} })),
    [notFar, undefined, undefined],
  ],
  ['affinity by node', near(term(host)), [undefined, notNear, notNear]],
  ['affinity by zone', near(term('zone')), [undefined, undefined, notNear]],
  ['affinity by a label that no node has', near(term('rack')), [notNear, notNear, notNear]],
];

for (const [title, spec, want] of cases) {
  test(`affinityProblem() with ${title}`, () => {
    const pod = podNamed('p', spec);
    assert.deepEqual(
      [taken, neighbour, free].map((node) => affinityProblem(pod, node, cluster)),
      want,
    );
  });
}

test('affinityProblem() accepts the first pod of a group with affinity to itself', () => {
  const pod = podNamed('p', near(term('zone')));
  const empty = clusterOf(neighbour, free);
  assert.equal(affinityProblem(pod, free, empty), undefined);
  const mismatched = podNamed(
    'p',
    near(term('zone', { labelSelector: { matchLabels: { app: 'x' } } })),
  );
  assert.equal(affinityProblem(mismatched, free, empty), notNear);
});

test('affinityProblem() respects the anti-affinity of existing pods', () => {
  const hermit = nodeState(
    inZone('a', 'z1'),
    podNamed('hermit', anti(term('zone')), { labels: {} }),
  );
  const around = clusterOf(hermit, neighbour, free);
  const want = "node(s) didn't satisfy existing pods anti-affinity rules";
  assert.equal(affinityProblem(podNamed('p'), neighbour, around), want);
  assert.equal(affinityProblem(podNamed('p'), free, around), undefined);
});

test('affinityPreference() adds affinity weights and subtracts anti-affinity weights', () => {
  const weighted = (weight: number, key: string) => [{ weight, podAffinityTerm: term(key) }];
  const spec = {
    affinity: {
      podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: weighted(10, 'zone') },
      podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: weighted(3, host) },
    },
  };
  const pod = podNamed('p', spec);
  assert.deepEqual(
    [taken, neighbour, free].map((node) => affinityPreference(pod, node, cluster)),
    [7, 10, 0],
  );
});

test('spreadProblem() enforces maxSkew between domains', () => {
  const constraint = (more: object = {}) => ({
    topologySpreadConstraints: [
      { maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', ...term('zone'), ...more },
    ],
  });
  const uneven = "node(s) didn't match pod topology spread constraints";
  const pod = podNamed('p', constraint());
  assert.equal(spreadProblem(pod, taken, cluster), uneven);
  assert.equal(spreadProblem(pod, free, cluster), undefined);
  assert.equal(spreadProblem(podNamed('p', constraint({ maxSkew: 2 })), taken, cluster), undefined);
  const soft = podNamed('p', constraint({ whenUnsatisfiable: 'ScheduleAnyway' }));
  assert.equal(spreadProblem(soft, taken, cluster), undefined);
  assert.equal(
    spreadProblem(pod, nodeState(nodeNamed('x')), cluster),
    `${uneven} (missing required label)`,
  );
});
