import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndpointSlice } from '../../kinds/endpoint-slice/types.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { examplePort } from '../../kinds/service/example.ts';
import { exampleBackend, selectingService } from '../../kinds/service/example-backends.ts';
import type { Service } from '../../kinds/service/types.ts';
import { diffSlices, type ServiceSlices, type SlicesInput } from './diff.ts';
import { exampleEndpoint, exampleEndpoints, exampleNode, storedSlice } from './example.ts';

const annotation = 'endpoints.kubernetes.io/last-change-trigger-time';
const time = '2026-01-01T00:00:00Z';
const dual = selectingService({ spec: { ipFamilies: ['IPv4', 'IPv6'] } });

function diff(more: Partial<SlicesInput>): ServiceSlices {
  return diffSlices({
    service: selectingService(),
    pods: [],
    node: (name) => (name === 'n1' ? exampleNode('n1') : undefined),
    zones: undefined,
    existing: [],
    spreadBefore: new Map(),
    maxPerSlice: 10,
    ...more,
  });
}

const pods = (count: number, first = 1): readonly Pod[] =>
  Array.from({ length: count }, (_, i) =>
    exampleBackend(`p${first + i}`, { ips: [`10.1.0.${first + i}`] }),
  );

/** `name type:number of endpoints`, by operation. */
function summary({
  create,
  update,
  delete: gone,
}: ServiceSlices): Record<string, readonly string[]> {
  const text = ({ metadata, addressType, endpoints }: EndpointSlice): string =>
    `${metadata.name ?? 'new'} ${addressType}:${endpoints?.length ?? 0}`;
  const entries = Object.entries({ create, update, delete: gone });
  return Object.fromEntries(
    entries.flatMap(([what, slices]) => (slices.length === 0 ? [] : [[what, slices.map(text)]])),
  );
}

const placeholder = (name: string, family: 'IPv4' | 'IPv6' = 'IPv4', service?: Service) =>
  storedSlice(name, [], { ports: [], family, ...(service === undefined ? {} : { service }) });
const full = storedSlice('a', exampleEndpoints(2));
const foreign = storedSlice('x', exampleEndpoints(1), { metadata: { ownerReferences: [] } });
const going = selectingService({ metadata: { deletionTimestamp: time } });

const ownedBy = (owner: object) =>
  storedSlice('p', [], {
    ports: [],
    metadata: { ownerReferences: [{ kind: 'Service', name: 'web', uid: 'uid-service', ...owner }] },
  });
const withPort = (name: string, containerPort: number): Pod =>
  exampleBackend(name, {
    ips: [`10.1.0.${name.slice(1)}`],
    spec: {
      nodeName: 'n1',
      containers: [{ name: 'c', image: 'i', ports: [{ name: 'web', containerPort }] }],
    },
  });

type Case = {
  readonly title: string;
  readonly given: Partial<SlicesInput>;
  readonly changes: Record<string, readonly string[]>;
};

const cases: readonly Case[] = [
  {
    title: 'creates a slice (EPS-07)',
    given: { pods: pods(2) },
    changes: { create: ['new IPv4:2'] },
  },
  {
    title: 'does nothing when nothing changes (EPS-12)',
    given: { pods: pods(2), existing: [full] },
    changes: {},
  },
  {
    title: 'creates a placeholder for a Service without pods (EPS-15)',
    given: {},
    changes: { create: ['new IPv4:0'] },
  },
  {
    title: 'leaves a placeholder alone (EPS-15)',
    given: { existing: [placeholder('a')] },
    changes: {},
  },
  {
    title: 'turns the placeholder into the first slice (EPS-16)',
    given: { pods: pods(1), existing: [placeholder('a')] },
    changes: { update: ['a IPv4:1'] },
  },
  {
    title: 'turns the last slice into the placeholder (EPS-15, EPS-16)',
    given: { existing: [full] },
    changes: { update: ['a IPv4:0'] },
  },
  {
    title: 'keeps the placeholder that stands beside other slices as it is (EPS-15)',
    given: { existing: [full, placeholder('b'), placeholder('c')] },
    changes: { delete: ['a IPv4:2', 'c IPv4:0'] },
  },
  {
    title: 'keeps the name when ports change (EPS-16)',
    given: {
      pods: pods(2),
      existing: [full],
      service: selectingService({ spec: { ports: [examplePort({ port: 81 })] } }),
    },
    changes: { update: ['a IPv4:2'] },
  },
  {
    title: 'deletes slices that belong to another service (EPS-17)',
    given: { pods: pods(2), existing: [full, foreign] },
    changes: { delete: ['x IPv4:1'] },
  },
  {
    title: 'does not reuse slices that belong to another service (EPS-16, EPS-17)',
    given: { pods: pods(2), existing: [foreign] },
    changes: { create: ['new IPv4:2'], delete: ['x IPv4:1'] },
  },
  {
    title: 'leaves slices that are being deleted (EPS-25)',
    given: {
      pods: pods(2),
      existing: [storedSlice('b', exampleEndpoints(2), { metadata: { deletionTimestamp: time } })],
    },
    changes: { create: ['new IPv4:2'] },
  },
  {
    title: 'creates slices for each family (DST-15)',
    given: { service: dual, pods: pods(2), existing: [full] },
    changes: { create: ['new IPv6:0'] },
  },
  {
    title: 'deletes the slices of a family that the service lost (DST-11, DST-15)',
    given: { pods: pods(2), existing: [full, placeholder('b', 'IPv6')] },
    changes: { delete: ['b IPv6:0'] },
  },
  {
    title: 'leaves a placeholder with an additional owner reference (EPS-15)',
    given: { existing: [ownedBy({ apiVersion: 'v1' })] },
    changes: {},
  },
  {
    title: 'deletes a slice owned by a Service of another API group (EPS-17)',
    given: { existing: [ownedBy({ apiVersion: 'serving.example/v1' })] },
    changes: { create: ['new IPv4:0'], delete: ['p IPv4:0'] },
  },
  {
    title: 'creates a second slice for pods with another port number (EPS-09)',
    given: {
      service: selectingService({ spec: { ports: [examplePort({ targetPort: 'web' })] } }),
      pods: [withPort('p1', 8080), withPort('p2', 9090), withPort('p3', 8080)],
    },
    changes: { create: ['new IPv4:2', 'new IPv4:1'] },
  },
  {
    title: 'creates only the placeholder for a family without addresses (DST-17, EPS-15)',
    given: { service: dual, pods: [exampleBackend('p1', { ips: ['fd00::1'] })] },
    changes: { create: ['new IPv4:0', 'new IPv6:1'] },
  },
  {
    title: 'creates nothing for a Service that is being deleted (EPS-23)',
    given: { service: going, pods: pods(1) },
    changes: {},
  },
  {
    title: 'still updates for a Service that is being deleted (EPS-23)',
    given: { service: going, pods: pods(1), existing: [full] },
    changes: { update: ['a IPv4:1'] },
  },
  {
    title: 'relabels the placeholder with the service (EPS-07)',
    given: {
      service: selectingService({ metadata: { labels: { a: 'b' } } }),
      existing: [placeholder('a')],
    },
    changes: { update: ['a IPv4:0'] },
  },
];

for (const { title, given, changes } of cases) {
  test(`diffSlices() ${title}`, () => assert.deepEqual(summary(diff(given)), changes));
}

test('diffSlices() keeps the resource version of updates (EPS-25)', () => {
  for (const service of [selectingService(), selectingService({ spec: { ports: [] } })]) {
    const [update] = diff({ service, pods: pods(1), existing: [full] }).update;
    assert.equal(update?.metadata.resourceVersion, '5');
    assert.equal(update?.metadata.uid, 'uid-a');
  }
});

test('diffSlices() sets or removes the trigger time of slices it writes (EPS-24)', () => {
  const timed = diff({ pods: pods(1), triggerTime: time });
  assert.deepEqual(timed.create[0]?.metadata.annotations, { [annotation]: time });
  const before = storedSlice('a', exampleEndpoints(2), {
    metadata: { annotations: { [annotation]: time, x: 'y' } },
  });
  const untimed = diff({ pods: pods(1), existing: [before] });
  assert.deepEqual(untimed.update[0]?.metadata.annotations, { x: 'y' });
});

test('diffSlices() returns pods whose node does not exist, once for all families (EPS-22)', () => {
  const lost = exampleBackend('p1', { spec: { nodeName: 'nowhere' } });
  const { podsWithoutNode, create } = diff({ service: dual, pods: [lost] });
  assert.deepEqual(podsWithoutNode, [lost]);
  assert.equal(create.length, 2);
});

test('diffSlices() adopts a slice of another writer that the Service owns (EPS-17)', () => {
  const adopted = storedSlice('mine', [exampleEndpoint('x')], {
    ports: [{ port: 1 }],
    metadata: {
      ownerReferences: [{ kind: 'Service', name: 'web', uid: 'uid-service', apiVersion: 'v1' }],
    },
  });
  const { update, create } = diff({ pods: pods(1), existing: [adopted] });
  assert.equal(create.length, 0);
  assert.equal(update[0]?.metadata.name, 'mine');
  assert.equal(update[0]?.metadata.ownerReferences?.[0]?.controller, true);
});
