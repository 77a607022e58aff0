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
    mostPerSlice: 10,
    ...more,
  });
}

const pods = (count: number, first = 1): readonly Pod[] =>
  Array.from({ length: count }, (_, i) =>
    exampleBackend(`p${first + i}`, { ips: [`10.1.0.${first + i}`] }),
  );

/** `name type:number of endpoints`, by what is done. */
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

type Case = {
  readonly title: string;
  readonly given: Partial<SlicesInput>;
  readonly changes: Record<string, readonly string[]>;
};

const cases: readonly Case[] = [
  { title: 'makes a slice', given: { pods: pods(2) }, changes: { create: ['new IPv4:2'] } },
  {
    title: 'does nothing when all is right',
    given: { pods: pods(2), existing: [full] },
    changes: {},
  },
  {
    title: 'makes a placeholder for a service without pods',
    given: {},
    changes: { create: ['new IPv4:0'] },
  },
  { title: 'leaves a placeholder alone', given: { existing: [placeholder('a')] }, changes: {} },
  {
    title: 'turns the placeholder into the first slice',
    given: { pods: pods(1), existing: [placeholder('a')] },
    changes: { update: ['a IPv4:1'] },
  },
  {
    title: 'turns the last slice into the placeholder',
    given: { existing: [full] },
    changes: { update: ['a IPv4:0'] },
  },
  {
    title: 'keeps the name when ports change',
    given: {
      pods: pods(2),
      existing: [full],
      service: selectingService({ spec: { ports: [examplePort({ port: 81 })] } }),
    },
    changes: { update: ['a IPv4:2'] },
  },
  {
    title: 'deletes slices that belong to another service',
    given: { pods: pods(2), existing: [full, foreign] },
    changes: { delete: ['x IPv4:1'] },
  },
  {
    title: 'does not reuse slices that belong to another service',
    given: { pods: pods(2), existing: [foreign] },
    changes: { create: ['new IPv4:2'], delete: ['x IPv4:1'] },
  },
  {
    title: 'leaves slices that are already going',
    given: {
      pods: pods(2),
      existing: [storedSlice('b', exampleEndpoints(2), { metadata: { deletionTimestamp: time } })],
    },
    changes: { create: ['new IPv4:2'] },
  },
  {
    title: 'has slices for each family',
    given: { service: dual, pods: pods(2), existing: [full] },
    changes: { create: ['new IPv6:0'] },
  },
  {
    title: 'deletes the slices of a family that the service lost',
    given: { pods: pods(2), existing: [full, placeholder('b', 'IPv6')] },
    changes: { delete: ['b IPv6:0'] },
  },
  {
    title: 'makes nothing for a service that is going',
    given: { service: going, pods: pods(1) },
    changes: {},
  },
  {
    title: 'still updates for a service that is going',
    given: { service: going, pods: pods(1), existing: [full] },
    changes: { update: ['a IPv4:1'] },
  },
  {
    title: 'relabels the placeholder with the service',
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

test('diffSlices() names the version that an update is meant for', () => {
  for (const service of [selectingService(), selectingService({ spec: { ports: [] } })]) {
    const [update] = diff({ service, pods: pods(1), existing: [full] }).update;
    assert.equal(update?.metadata.resourceVersion, '5');
    assert.equal(update?.metadata.uid, 'uid-a');
  }
});

test('diffSlices() stamps what it writes with the trigger time, or takes it off', () => {
  const timed = diff({ pods: pods(1), triggerTime: time });
  assert.deepEqual(timed.create[0]?.metadata.annotations, { [annotation]: time });
  const before = storedSlice('a', exampleEndpoints(2), {
    metadata: { annotations: { [annotation]: time, x: 'y' } },
  });
  const untimed = diff({ pods: pods(1), existing: [before] });
  assert.deepEqual(untimed.update[0]?.metadata.annotations, { x: 'y' });
});

test('diffSlices() returns pods whose node is not known, once for all families', () => {
  const lost = exampleBackend('p1', { spec: { nodeName: 'nowhere' } });
  const { homeless, create } = diff({ service: dual, pods: [lost] });
  assert.deepEqual(homeless, [lost]);
  assert.equal(create.length, 2);
});

test('diffSlices() takes over a slice that the service owns and that others wrote', () => {
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
