import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Endpoint, EndpointHints } from '../../kinds/endpoint-slice/types.ts';
import { selectingService } from '../../kinds/service/example-backends.ts';
import type { Service } from '../../kinds/service/types.ts';
import { exampleEndpoint, exampleEndpoints, storedSlice } from './example.ts';
import type { SlicePlan } from './pack.ts';
import { assignHints, nearHints, type SpreadHints, wantsSpread } from './topology-hints.ts';

const zone = 'zone-a';
const forZones = [{ name: zone }];
const forNodes = [{ name: 'n1' }];

type Case = {
  readonly distribution: string | undefined;
  readonly endpoint: Partial<Endpoint>;
  readonly hints: EndpointHints | undefined;
};

const cases: readonly Case[] = [
  { distribution: 'PreferSameZone', endpoint: { zone }, hints: { forZones } },
  { distribution: 'PreferClose', endpoint: { zone }, hints: { forZones } },
  { distribution: 'PreferSameZone', endpoint: {}, hints: undefined },
  { distribution: 'PreferSameNode', endpoint: { zone }, hints: { forZones, forNodes } },
  { distribution: 'PreferSameNode', endpoint: {}, hints: { forNodes } },
  {
    distribution: 'PreferSameZone',
    endpoint: { zone, conditions: { ready: false } },
    hints: undefined,
  },
  {
    distribution: 'PreferSameNode',
    endpoint: { zone, conditions: { ready: false, serving: true } },
    hints: undefined,
  },
  { distribution: 'Other', endpoint: { zone }, hints: undefined },
  { distribution: undefined, endpoint: { zone }, hints: undefined },
];

for (const { distribution, endpoint, hints } of cases) {
  const id =
    distribution === undefined ? 'EPS-30' : distribution === 'PreferSameNode' ? 'EPS-29' : 'EPS-28';
  test(`nearHints() under ${distribution} of ${JSON.stringify(endpoint)} (${id})`, () => {
    assert.deepEqual(nearHints(distribution, exampleEndpoint('p1', endpoint)), hints);
  });
}

const auto = (extra: object = {}): Service =>
  selectingService({
    metadata: { annotations: { 'service.kubernetes.io/topology-mode': 'Auto' } },
    spec: { trafficDistribution: 'PreferSameZone', ...extra },
  });
const empty: SlicePlan = { unchanged: [], update: [], create: [], delete: [] };
const none: SpreadHints = new Map();
const spread: SpreadHints = new Map([['IPv4', { za: 1, zb: 1 }]]);
const zones = { za: 0.5, zb: 0.5 };
const inZone = (name: string) => [
  ...exampleEndpoints(1, 1, { zone: 'za' }),
  ...exampleEndpoints(1, 2, { zone: name }),
];

function assign(service: Service, plan: SlicePlan, spreadBefore = none) {
  return assignHints({ service, family: 'IPv4', plan, zones, spreadBefore });
}

test('assignHints() turns a slice into an update only when its hints change (EPS-28)', () => {
  const near = selectingService({ spec: { trafficDistribution: 'PreferSameZone' } });
  const hinted = storedSlice('a', [exampleEndpoint('p1', { zone, hints: { forZones } })]);
  const bare = storedSlice('b', [exampleEndpoint('p2', { zone })]);
  const { plan } = assign(near, { ...empty, unchanged: [hinted, bare] });
  assert.deepEqual(plan.unchanged, [hinted]);
  assert.deepEqual(
    plan.update.map(({ endpoints }) => endpoints?.[0]?.hints),
    [{ forZones }],
  );
});

test('assignHints() takes hints away with trafficDistribution (EPS-30)', () => {
  const hinted = storedSlice('a', [exampleEndpoint('p1', { zone, hints: { forZones } })]);
  const { plan } = assign(selectingService(), { ...empty, unchanged: [hinted] });
  assert.deepEqual(plan.update, [storedSlice('a', [exampleEndpoint('p1', { zone })])]);
});

test('assignHints() lets the annotation win over trafficDistribution, and tells once that it works (EPS-27, EPS-31)', () => {
  const plan = { ...empty, unchanged: [storedSlice('a', inZone('zb'))] };
  const first = assign(auto(), plan);
  assert.deepEqual(first.events, [
    {
      type: 'Normal',
      reason: 'TopologyAwareHintsEnabled',
      message: 'Topology Aware Hints has been enabled, addressType: IPv4',
    },
  ]);
  assert.deepEqual([...first.spread], [['IPv4', { za: 1, zb: 1 }]]);
  assert.deepEqual(assign(auto(), plan, first.spread).events, []);
});

test('assignHints() tells why there are no hints (EPS-27, EPS-33)', () => {
  const plan = { ...empty, unchanged: [storedSlice('a', exampleEndpoints(1))] };
  const { events, spread: after } = assign(auto(), plan, spread);
  const message = 'Insufficient number of endpoints (1 endpoints, 2 zones), addressType: IPv4';
  assert.deepEqual(events, [{ type: 'Warning', reason: 'TopologyAwareHintsDisabled', message }]);
  assert.equal(after.size, 0);
});

test('assignHints() tells once when the annotation goes, however many families there are (EPS-27, EPS-31)', () => {
  const both: SpreadHints = new Map([...spread, ['IPv6', { za: 1, zb: 1 }]]);
  const { events, spread: after } = assign(selectingService(), empty, both);
  const message = 'Topology Aware Hints has been disabled, addressType: IPv4';
  assert.deepEqual(events, [{ type: 'Warning', reason: 'TopologyAwareHintsDisabled', message }]);
  assert.equal(after.size, 0);
});

test('assignHints() knows the old annotation, which comes first (EPS-31)', () => {
  const annotations = {
    'service.kubernetes.io/topology-aware-hints': 'disabled',
    'service.kubernetes.io/topology-mode': 'Auto',
  };
  const { events } = assign(selectingService({ metadata: { annotations } }), empty);
  assert.deepEqual(events, []);
});

for (const mode of ['Auto', 'auto', 'AUTO', 'PreferZone', '']) {
  const isAuto = mode === 'Auto' || mode === 'auto';
  test(`wantsSpread() of topology-mode "${mode}": ${isAuto} (EPS-31)`, () => {
    const annotations = { 'service.kubernetes.io/topology-mode': mode };
    assert.equal(wantsSpread(selectingService({ metadata: { annotations } })), isAuto);
  });
}

test('assignHints() decides for each family alone (EPS-35)', () => {
  const four = assign(auto(), { ...empty, create: [storedSlice('a', inZone('zb'))] });
  const six = assignHints({
    service: auto(),
    family: 'IPv6',
    plan: { ...empty, create: [storedSlice('b', exampleEndpoints(1, 1, { zone: 'za' }))] },
    zones,
    spreadBefore: four.spread,
  });
  assert.deepEqual([...six.spread.keys()], ['IPv4']);
  assert.equal(six.plan.create[0]?.endpoints?.[0]?.hints, undefined);
});
