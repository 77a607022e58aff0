import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterOf, nodeNamed, place, podNamed } from './example.ts';
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
const taken = place(inZone('a', 'z1'), other);
const neighbour = place(inZone('b', 'z1'));
const free = place(inZone('c', 'z2'));
const cluster = clusterOf(taken, neighbour, free);

const notFar = "node(s) didn't match pod anti-affinity rules";
const notNear = "node(s) didn't match pod affinity rules";
const cases: readonly (readonly [string, object, readonly (string | undefined)[]])[] = [
  ['no wish', {}, [undefined, undefined, undefined]],
  ['far by node', anti(term(host)), [notFar, undefined, undefined]],
  ['far by zone', anti(term('zone')), [notFar, notFar, undefined]],
  [
    'far from another namespace',
    anti(term(host, { namespaces: ['else'] })),
    [undefined, undefined, undefined],
  ],
  [
    'far in all namespaces',
    anti(term(host, { namespaceSelector: {} })),
    [notFar, undefined, undefined],
  ],
  ['near by node', near(term(host)), [undefined, notNear, notNear]],
  ['near by zone', near(term('zone')), [undefined, undefined, notNear]],
  ['near by a label that no node has', near(term('rack')), [notNear, notNear, notNear]],
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

test('affinityProblem() lets the first of a group that wants to be together start', () => {
  const pod = podNamed('p', near(term('zone')));
  const empty = clusterOf(neighbour, free);
  assert.equal(affinityProblem(pod, free, empty), undefined);
  const stranger = podNamed(
    'p',
    near(term('zone', { labelSelector: { matchLabels: { app: 'x' } } })),
  );
  assert.equal(affinityProblem(stranger, free, empty), notNear);
});

test('affinityProblem() respects the wishes of pods that are there', () => {
  const hermit = place(inZone('a', 'z1'), podNamed('hermit', anti(term('zone')), { labels: {} }));
  const around = clusterOf(hermit, neighbour, free);
  const want = "node(s) didn't satisfy existing pods anti-affinity rules";
  assert.equal(affinityProblem(podNamed('p'), neighbour, around), want);
  assert.equal(affinityProblem(podNamed('p'), free, around), undefined);
});

test('affinityPreference() adds what is wished near and takes off what is wished far', () => {
  const wish = (weight: number, key: string) => [{ weight, podAffinityTerm: term(key) }];
  const spec = {
    affinity: {
      podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: wish(10, 'zone') },
      podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: wish(3, host) },
    },
  };
  const pod = podNamed('p', spec);
  assert.deepEqual(
    [taken, neighbour, free].map((node) => affinityPreference(pod, node, cluster)),
    [7, 10, 0],
  );
});

test('spreadProblem() keeps the difference between places small', () => {
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
    spreadProblem(pod, place(nodeNamed('x')), cluster),
    `${uneven} (missing required label)`,
  );
});
