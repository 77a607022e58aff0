import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Endpoint, EndpointSlice } from '../../kinds/endpoint-slice/types.ts';
import { exampleEndpoint, exampleEndpoints, storedSlice } from './example.ts';
import type { SlicePlan } from './pack.ts';
import { spreadOverZones } from './spread-over-zones.ts';

const even = { za: 0.5, zb: 0.5 };
const empty: SlicePlan = { unchanged: [], update: [], create: [], delete: [] };

/** This many endpoints in each zone. */
function inZones(counts: Readonly<Record<string, number>>): readonly Endpoint[] {
  let next = 1;
  return Object.entries(counts).flatMap(([zone, count]) => {
    const made = exampleEndpoints(count, next, { zone });
    next += count;
    return made;
  });
}

function served(slices: readonly EndpointSlice[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { hints } of slices.flatMap(({ endpoints }) => endpoints ?? [])) {
    const name = hints?.forZones?.[0]?.name ?? 'none';
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

type Case = {
  readonly title: string;
  readonly shares: Readonly<Record<string, number>>;
  readonly endpoints: Readonly<Record<string, number>>;
  readonly serve: Readonly<Record<string, number>>;
};

const cases: readonly Case[] = [
  {
    title: 'assigns endpoints to their own zone when balanced',
    shares: even,
    endpoints: { za: 3, zb: 3 },
    serve: { za: 3, zb: 3 },
  },
  {
    title: 'assigns some endpoints of a larger zone to a smaller one',
    shares: even,
    endpoints: { za: 5, zb: 1 },
    serve: { za: 3, zb: 3 },
  },
  {
    title: 'assigns endpoints to a zone that has none',
    shares: even,
    endpoints: { za: 4 },
    serve: { za: 2, zb: 2 },
  },
  {
    title: 'follows the CPU shares',
    shares: { za: 0.75, zb: 0.25 },
    endpoints: { za: 4, zb: 4 },
    serve: { za: 6, zb: 2 },
  },
  {
    title: 'reassigns nothing of a zone without nodes',
    shares: even,
    endpoints: { za: 2, zb: 2, zc: 2 },
    serve: { za: 2, zb: 2, zc: 2 },
  },
  {
    title: 'reassigns one endpoint when a zone has one too many',
    shares: even,
    endpoints: { za: 6, zb: 3 },
    serve: { za: 5, zb: 4 },
  },
  {
    title: 'reassigns a whole surplus endpoint to a zone that lacks half of one',
    shares: { za: 0.4, zb: 0.3, zc: 0.3 },
    endpoints: { za: 7, zb: 4, zc: 4 },
    serve: { za: 6, zb: 5, zc: 4 },
  },
  {
    title: 'does not reassign a surplus of less than half an endpoint',
    shares: { za: 10.6 / 44, zb: 10.6 / 44, zc: 10.6 / 44, zd: 12.2 / 44 },
    endpoints: { za: 11, zb: 11, zc: 11, zd: 11 },
    serve: { za: 11, zb: 11, zc: 11, zd: 11 },
  },
  {
    title: 'reassigns nothing when no zone differs by a whole endpoint',
    shares: { za: 0.58, zb: 0.42 },
    endpoints: { za: 5, zb: 5 },
    serve: { za: 5, zb: 5 },
  },
];

for (const { title, shares, endpoints, serve } of cases) {
  test(`spreadOverZones() ${title} (EPS-32, EPS-34)`, () => {
    const plan = { ...empty, create: [storedSlice('a', inZones(endpoints))] };
    const spread = spreadOverZones(plan, shares);
    assert.deepEqual(served(spread.plan.create), serve);
    const given = Object.entries(spread.byZone ?? {}).filter(([, count]) => count > 0);
    assert.deepEqual(Object.fromEntries(given), serve);
  });
}

test('spreadOverZones() does not rewrite slices whose hints are still fair (EPS-34)', () => {
  const hinted = (name: string, first: number, zone: string): EndpointSlice =>
    storedSlice(name, exampleEndpoints(3, first, { zone, hints: { forZones: [{ name: zone }] } }));
  const kept = [hinted('a', 1, 'za'), hinted('b', 4, 'zb')];
  const { plan } = spreadOverZones({ ...empty, unchanged: kept }, even);
  assert.deepEqual(plan, { ...empty, unchanged: kept });
});

test('spreadOverZones() rewrites slices with hints for zones that are gone, or with none (EPS-34)', () => {
  const hints = { forZones: [{ name: 'zx' }] };
  const stale = storedSlice('a', exampleEndpoints(2, 1, { zone: 'za', hints }));
  const bare = storedSlice('b', exampleEndpoints(2, 3, { zone: 'zb' }));
  const { plan } = spreadOverZones({ ...empty, unchanged: [stale, bare] }, even);
  assert.deepEqual(plan.unchanged, []);
  assert.deepEqual(served(plan.update), { za: 2, zb: 2 });
});

test('spreadOverZones() gives no hints to what is not ready (EPS-32)', () => {
  const down = exampleEndpoint('p9', { zone: 'za', conditions: { ready: false } });
  const create = [storedSlice('a', [...inZones({ za: 1, zb: 1 }), down])];
  const { plan } = spreadOverZones({ ...empty, create }, even);
  assert.deepEqual(served(plan.create), { za: 1, zb: 1, none: 1 });
});

test('spreadOverZones() takes all hints away when an endpoint has no zone (EPS-33)', () => {
  const hints = { forZones: [{ name: 'za' }] };
  const create = [
    storedSlice('a', [...exampleEndpoints(2, 1, { zone: 'za' }), exampleEndpoint('p9')]),
  ];
  const unchanged = [storedSlice('b', exampleEndpoints(1, 5, { zone: 'za', hints }))];
  const { plan, problem, byZone } = spreadOverZones({ ...empty, create, unchanged }, even);
  assert.equal(problem, 'One or more endpoints do not have a zone specified');
  assert.equal(byZone, undefined);
  assert.deepEqual(served([...plan.create, ...plan.update]), { none: 4 });
});
