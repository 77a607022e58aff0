import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noOwners } from '../../kinds/service/address-owners.ts';
import { examplePort, exampleService } from '../../kinds/service/example.ts';
import type { Service, ServiceSpec } from '../../kinds/service/types.ts';
import { exampleEndpoint, trimmedSlice } from './example-slice.ts';
import { exampleNode } from './example-state.ts';
import { randomObjects } from './random-objects.ts';
import { createRandom } from './random-state.ts';
import type { NodeState, ServicePort } from './state.ts';
import { createStateTracker, type NodeView, type StateTracker } from './track-state.ts';
import type { TrimmedSlice } from './trim-objects.ts';

const options = {
  allowsExternalIPs: true,
  allowsForeignAddresses: false,
  endpointOwner: () => undefined,
};
const viewOf = (node: NodeState, zone: string): NodeView => ({ node, zone, owners: noOwners });
const newTracker = (): StateTracker =>
  createStateTracker({ node: exampleNode(), zone: 'zone-a', owners: noOwners }, options);

function service(name: string, spec: ServiceSpec = {}, created = '2026-01-01T00:00:00Z'): Service {
  return exampleService({
    metadata: { name, namespace: 'default', creationTimestamp: created },
    spec,
  });
}

const slice = (service: string, ...words: string[]): TrimmedSlice =>
  trimmedSlice(
    words.map((word) => exampleEndpoint(word)),
    { service },
  );

/** Sorted keys of what changed, or `all`. */
function changes(tracker: StateTracker): readonly string[] | 'all' {
  const { change } = tracker.take();
  return change.kind === 'full' ? 'all' : [...change.keys].sort();
}

const portOf = (tracker: StateTracker, key: string): ServicePort | undefined =>
  tracker.take().state.ports.get(key);

describe('createStateTracker()', () => {
  it('starts with a full change, then returns changed ports', () => {
    const tracker = newTracker();
    tracker.update('default/web', { service: service('web'), slices: [slice('web', '1.11')] });
    assert.equal(changes(tracker), 'all');
    assert.deepEqual(changes(tracker), []);
    tracker.update('default/web', { service: service('web'), slices: [slice('web', '2.12')] });
    assert.deepEqual(changes(tracker), ['default/web:/TCP']);
    tracker.update('default/web', { slices: [] });
    assert.deepEqual(changes(tracker), ['default/web:/TCP']);
    assert.equal(tracker.take().state.ports.size, 0);
  });
  it('keeps the same object while nothing changes, and the same lists where they do not', () => {
    const tracker = newTracker();
    const slices = [slice('web', '1.11')];
    tracker.update('default/web', { service: service('web'), slices });
    const before = portOf(tracker, 'default/web:/TCP');
    tracker.update('default/web', { service: service('web'), slices: [slice('web', '1.11')] });
    assert.equal(portOf(tracker, 'default/web:/TCP'), before);
    const spec: ServiceSpec = { externalIPs: ['203.0.113.1'] };
    tracker.update('default/web', { service: service('web', spec), slices });
    const after = portOf(tracker, 'default/web:/TCP');
    assert.notEqual(after, before);
    assert.equal(after?.clusterEndpoints, before?.clusterEndpoints);
  });
  it('returns a full change after forget()', () => {
    const tracker = newTracker();
    tracker.take();
    tracker.forget();
    assert.equal(changes(tracker), 'all');
  });
  it('returns a full change when the node changed, and keeps its object when it did not', () => {
    const tracker = newTracker();
    const { node } = tracker.take().state;
    assert.deepEqual(tracker.setNode(viewOf(exampleNode(), 'zone-a')), []);
    assert.deepEqual(changes(tracker), []);
    assert.equal(tracker.take().state.node, node);
    const other = exampleNode({ masqueradeAll: true });
    assert.deepEqual(tracker.setNode(viewOf(other, 'zone-a')), []);
    assert.equal(changes(tracker), 'all');
    assert.equal(tracker.setNode(viewOf(exampleNode(), 'zone-b')), 'all');
  });
  it('counts local ready endpoints for a health check (KPX-36)', () => {
    const tracker = newTracker();
    const spec: ServiceSpec = {
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: 30_990,
    };
    const slices = [slice('web', '1.11', '~1.12', '2.13')];
    tracker.update('default/web', { service: service('web', spec), slices });
    assert.deepEqual(
      [...tracker.healthChecks()],
      [['default/web', { port: 30_990, localEndpoints: 1 }]],
    );
    assert.deepEqual(tracker.withoutLocal(), { internal: 0, external: 0 });
    tracker.update('default/web', {
      service: service('web', spec),
      slices: [slice('web', '2.13')],
    });
    assert.deepEqual(tracker.withoutLocal(), { internal: 0, external: 1 });
    tracker.update('default/web', { slices: [] });
    assert.equal(tracker.healthChecks().size, 0);
    assert.deepEqual(tracker.withoutLocal(), { internal: 0, external: 0 });
  });
  it('returns the endpoints that serve UDP, including those without new flows (KPX-44)', () => {
    const tracker = newTracker();
    const ports = [examplePort({ port: 53, protocol: 'UDP' })];
    const endpoints = trimmedSlice(
      ['1.11', '~1.12', 'x1.13', '!1.14'].map((word) => exampleEndpoint(word)),
      { ports: [{ protocol: 'UDP', port: 53 }] },
    );
    tracker.update('default/web', { service: service('web', { ports }), slices: [endpoints] });
    assert.deepEqual(
      [...tracker.servingUDP('default/web:/UDP')],
      ['10.244.1.11 53', '10.244.1.12 53'],
    );
  });
});

describe('createStateTracker() with Services that request the same address', () => {
  const spec: ServiceSpec = { externalIPs: ['203.0.113.1'] };
  const ofTwo = (): StateTracker => {
    const tracker = newTracker();
    const young = service(
      'young',
      { ...spec, clusterIP: '10.96.0.21', clusterIPs: [] },
      '2026-03-01T00:00:00Z',
    );
    tracker.update('default/young', { service: young, slices: [] });
    tracker.update('default/old', { service: service('old', spec), slices: [] });
    tracker.take();
    return tracker;
  };
  it('gives the address to the older one', () => {
    const tracker = ofTwo();
    assert.deepEqual(portOf(tracker, 'default/old:/TCP')?.externalIPs, ['203.0.113.1']);
    assert.deepEqual(portOf(tracker, 'default/young:/TCP')?.externalIPs, []);
  });
  it('gives it to the next when its owner is deleted, and returns the change', () => {
    const tracker = ofTwo();
    tracker.update('default/old', { slices: [] });
    assert.deepEqual(changes(tracker), ['default/old:/TCP', 'default/young:/TCP']);
    assert.deepEqual(portOf(tracker, 'default/young:/TCP')?.externalIPs, ['203.0.113.1']);
  });
  it('gives it to the next when its owner was recreated', () => {
    const tracker = ofTwo();
    const again = service('old', spec, '2026-04-01T00:00:00Z');
    tracker.update('default/old', { service: again, slices: [] });
    assert.deepEqual(changes(tracker), ['default/old:/TCP', 'default/young:/TCP']);
  });
});

describe('createStateTracker() under random changes', () => {
  for (let seed = 0; seed < 30; seed += 1) {
    it(`has the state of a new tracker, and has returned every difference (seed ${seed})`, () => {
      const random = createRandom(seed);
      const view = { node: exampleNode(), zone: 'zone-a', owners: noOwners };
      const tracker = createStateTracker(view, options);
      const current = new Map<string, ReturnType<typeof randomObjects>>();
      const copy = new Map<string, ServicePort>();
      for (let step = 0; step < 60; step += 1) {
        const name = `s${random.below(8)}`;
        const objects = randomObjects(random, name);
        tracker.update(`default/${name}`, objects);
        current.set(`default/${name}`, objects);
        if (random.percent(50)) continue;
        const ports = followInto(copy, tracker);
        assert.deepEqual(byKey(copy), byKey(ports));
      }
      const fresh = createStateTracker(view, options);
      for (const [key, objects] of current) fresh.update(key, objects);
      assert.deepEqual(byKey(tracker.take().state.ports), byKey(fresh.take().state.ports));
      assert.deepEqual(tracker.withoutLocal(), fresh.withoutLocal());
      assertExclusive(fresh.take().state.ports.values());
    });
  }
});

/** Applies what the tracker tells to a copy; returns what the tracker has. */
function followInto(
  copy: Map<string, ServicePort>,
  tracker: StateTracker,
): ReadonlyMap<string, ServicePort> {
  const { state, change } = tracker.take();
  const keys = change.kind === 'full' ? [...copy.keys(), ...state.ports.keys()] : change.keys;
  for (const key of keys) setOrDelete(copy, key, state.ports.get(key));
  return state.ports;
}

function setOrDelete<T>(map: Map<string, T>, key: string, value: T | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}

function byKey(
  ports: ReadonlyMap<string, ServicePort>,
): readonly (readonly [string, ServicePort])[] {
  return [...ports].sort(([a], [b]) => (a < b ? -1 : 1));
}

function assertExclusive(ports: Iterable<ServicePort>): void {
  const seen = new Set<string>();
  for (const { key, protocol, port, clusterIP, externalIPs, loadBalancerIPs, nodePort } of ports) {
    const addresses = [...(clusterIP ? [clusterIP] : []), ...externalIPs, ...loadBalancerIPs];
    const claims = addresses.map((ip) => `${ip} ${port} ${protocol}`);
    if (nodePort !== undefined) claims.push(`${nodePort} ${protocol}`);
    for (const claim of claims) {
      assert.ok(!seen.has(claim), `${key} has ${claim} beside another`);
      seen.add(claim);
    }
  }
}
