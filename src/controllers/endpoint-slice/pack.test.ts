import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpointIdentity } from '../../kinds/endpoint-slice/same-endpoint.ts';
import type { Endpoint, EndpointSlice } from '../../kinds/endpoint-slice/types.ts';
import { selectingService } from '../../kinds/service/example-backends.ts';
import { newSlice, sliceLabels } from './desired.ts';
import { exampleEndpoint, exampleEndpoints, httpPort, storedSlice } from './example.ts';
import { packGroup, type SlicePlan } from './pack.ts';

const service = selectingService();

function pack(existing: readonly EndpointSlice[], endpoints: readonly Endpoint[]): SlicePlan {
  return packGroup({
    existing,
    endpoints: new Map(endpoints.map((endpoint) => [endpointIdentity(endpoint), endpoint])),
    labels: sliceLabels(service),
    maxPerSlice: 10,
    newSlice: (inside) =>
      newSlice({ service, family: 'IPv4', ports: [httpPort], endpoints: inside }),
  });
}

/** `name: number of endpoints` of each slice, by operation. */
function summary(plan: SlicePlan): Record<string, readonly string[]> {
  const text = ({ metadata, endpoints }: EndpointSlice): string =>
    `${metadata.name ?? 'new'}:${endpoints?.length ?? 0}`;
  const entries = Object.entries(plan).filter(([, slices]) => slices.length > 0);
  return Object.fromEntries(entries.map(([what, slices]) => [what, slices.map(text)]));
}

const some = (first: number, count: number) => exampleEndpoints(count, first);
const slice = (name: string, first: number, count: number) => storedSlice(name, some(first, count));

type Case = {
  readonly title: string;
  readonly existing: readonly EndpointSlice[];
  readonly wanted: readonly Endpoint[];
  readonly plan: Record<string, readonly string[]>;
};

const cases: readonly Case[] = [
  {
    title: 'creates one slice for few endpoints (EPS-11)',
    existing: [],
    wanted: some(1, 3),
    plan: { create: ['new:3'] },
  },
  {
    title: 'creates as many slices as needed (EPS-11)',
    existing: [],
    wanted: some(1, 25),
    plan: { create: ['new:10', 'new:10', 'new:5'] },
  },
  {
    title: 'leaves unchanged slices alone (EPS-12)',
    existing: [slice('a', 1, 3)],
    wanted: some(1, 3),
    plan: { unchanged: ['a:3'] },
  },
  {
    title: 'removes endpoints that are not desired (EPS-12)',
    existing: [slice('a', 1, 3)],
    wanted: some(2, 2),
    plan: { update: ['a:2'] },
  },
  {
    title: 'deletes a slice that loses all endpoints (EPS-15)',
    existing: [slice('a', 1, 3), slice('b', 4, 2)],
    wanted: some(4, 2),
    plan: { unchanged: ['b:2'], delete: ['a:3'] },
  },
  {
    title: 'fills the slice that is written anyway (EPS-12)',
    existing: [slice('a', 1, 8), slice('b', 11, 8)],
    wanted: [...some(2, 7), ...some(11, 8), ...some(21, 2)],
    plan: { unchanged: ['b:8'], update: ['a:9'] },
  },
  {
    title: 'fills the fullest of the updated slices first (EPS-12)',
    existing: [slice('a', 1, 4), slice('b', 11, 7)],
    wanted: [...some(2, 3), ...some(12, 6), ...some(21, 5)],
    plan: { update: ['b:10', 'a:4'] },
  },
  {
    title: 'adds a few endpoints to the fullest slice with room (EPS-12)',
    existing: [slice('a', 1, 5), slice('b', 11, 7)],
    wanted: [...some(1, 5), ...some(11, 7), ...some(21, 3)],
    plan: { unchanged: ['a:5'], update: ['b:10'] },
  },
  {
    title: 'creates one slice rather than updating two (EPS-13)',
    existing: [slice('a', 1, 5), slice('b', 11, 5)],
    wanted: [...some(1, 5), ...some(11, 5), ...some(21, 10)],
    plan: { unchanged: ['a:5', 'b:5'], create: ['new:10'] },
  },
  {
    title:
      'splits more than one slice of endpoints, and adds the rest to an existing slice (EPS-12)',
    existing: [slice('a', 1, 5)],
    wanted: [...some(1, 5), ...some(21, 13)],
    plan: { update: ['a:8'], create: ['new:10'] },
  },
  {
    title: 'never merges slices that are nearly empty (EPS-14)',
    existing: [slice('a', 1, 2), slice('b', 11, 2)],
    wanted: [...some(1, 1), ...some(11, 1)],
    plan: { update: ['a:1', 'b:1'] },
  },
  {
    title: 'fills an empty slice (EPS-16)',
    existing: [slice('a', 1, 0)],
    wanted: some(1, 2),
    plan: { update: ['a:2'] },
  },
  {
    title: "creates a slice for a full slice's worth, and leaves the empty one (EPS-12)",
    existing: [slice('a', 1, 0)],
    wanted: some(1, 10),
    plan: { unchanged: ['a:0'], create: ['new:10'] },
  },
  {
    title: 'keeps an endpoint of two slices in the first one (EPS-12)',
    existing: [slice('a', 1, 2), slice('b', 2, 2)],
    wanted: some(1, 3),
    plan: { unchanged: ['a:2'], update: ['b:1'] },
  },
  {
    title: 'does not fill slices beyond the limit (EPS-11)',
    existing: [slice('a', 1, 12)],
    wanted: some(2, 12),
    plan: { update: ['a:11'], create: ['new:1'] },
  },
];

for (const { title, existing, wanted, plan } of cases) {
  test(`packGroup() ${title}`, () => assert.deepEqual(summary(pack(existing, wanted)), plan));
}

test('packGroup() refreshes changed endpoints in their place (EPS-12)', () => {
  const going = exampleEndpoint('p2', { conditions: { ready: false } });
  const { update } = pack([slice('a', 1, 3)], [...some(1, 1), going, ...some(3, 1)]);
  assert.deepEqual(update[0]?.endpoints, [...some(1, 1), going, ...some(3, 1)]);
});

test('packGroup() rewrites a slice whose labels are not the service’s (EPS-07)', () => {
  const old = storedSlice('a', some(1, 1), { metadata: { labels: { x: 'y' } } });
  const { update } = pack([old], some(1, 1));
  assert.deepEqual(update[0]?.metadata, { ...old.metadata, labels: sliceLabels(service) });
});
