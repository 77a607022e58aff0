// What becomes of addresses that Services name and others own, in the state that every mode gets.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noOwners } from '../../kinds/service/address-owners.ts';
import { exampleService } from '../../kinds/service/example.ts';
import type { Service, ServiceSpec } from '../../kinds/service/types.ts';
import { createEndpointOwners } from './endpoint-owner.ts';
import { exampleEndpoint, trimmedSlice } from './example-slice.ts';
import { exampleNode } from './example-state.ts';
import { createStateTracker, type StateTracker } from './track-state.ts';
import type { TrimmedSlice } from './trim-objects.ts';

type Named = { readonly external?: readonly string[]; readonly balancer?: readonly string[] };

let count = 10;
function service(name: string, { external = [], balancer = [] }: Named, created: string): Service {
  count += 1;
  const spec: ServiceSpec = {
    clusterIP: `10.96.0.${count}`,
    clusterIPs: [`10.96.0.${count}`],
    ...(external.length === 0 ? {} : { externalIPs: external }),
    ...(balancer.length === 0 ? {} : { type: 'LoadBalancer' }),
  };
  const ingress = balancer.map((ip) => ({ ip }));
  return exampleService({
    metadata: { name, namespace: 'default', creationTimestamp: created },
    spec,
    status: { loadBalancer: { ingress } },
  });
}

const view = { node: exampleNode(), zone: '' };
const owners = { ...noOwners, nodes: [['10.20.0.1', 'a']] as const };
const tracker = (more: Partial<Parameters<typeof createStateTracker>[1]> = {}): StateTracker =>
  createStateTracker(
    { ...view, owners },
    {
      ...{ allowsExternalIPs: true, allowsForeignAddresses: false },
      endpointOwner: () => undefined,
      ...more,
    },
  );
const update = (state: StateTracker, made: Service): void =>
  state.update(`default/${made.metadata.name}`, { service: made, slices: [] });
const addresses = (state: StateTracker, name: string): readonly string[] => {
  const port = state.take().state.ports.get(`default/${name}:/TCP`);
  return [...(port?.externalIPs ?? []), ...(port?.loadBalancerIPs ?? [])];
};
const refused = (state: StateTracker): readonly string[] =>
  [...state.refused()].flatMap(([key, list]) =>
    list.map(({ by, ip, why }) => `${key} ${by} ${ip}: ${why}`),
  );

const old = '2026-01-01T00:00:00Z';
const young = '2026-02-01T00:00:00Z';

describe('createStateTracker() with addresses that have other owners', () => {
  it('refuses them in the status of a load balancer as in external IPs', () => {
    const endpointOwner = (ip: string) => (ip === '198.51.100.1' ? 'it is a pod' : undefined);
    const named = ['10.20.0.1', '198.51.100.1', '203.0.113.1'];
    for (const [by, made] of [
      ['externalIP', service('x', { external: named }, old)],
      ['loadBalancer', service('x', { balancer: named }, old)],
    ] as const) {
      const state = tracker({ endpointOwner });
      update(state, made);
      assert.deepEqual(addresses(state, 'x'), ['203.0.113.1']);
      assert.deepEqual(refused(state), [
        `default/x ${by} 10.20.0.1: it is an address of node a`,
        `default/x ${by} 198.51.100.1: it is a pod`,
      ]);
      const open = tracker({ endpointOwner, allowsForeignAddresses: true });
      update(open, made);
      assert.deepEqual(addresses(open, 'x'), named);
    }
  });
  it('refuses those of nodes, with the reason', () => {
    const state = tracker();
    update(state, service('x', { external: ['10.20.0.1', '203.0.113.1'] }, old));
    assert.deepEqual(addresses(state, 'x'), ['203.0.113.1']);
    assert.deepEqual(refused(state), [
      'default/x externalIP 10.20.0.1: it is an address of node a',
    ]);
    update(state, service('x', { external: ['203.0.113.1'] }, old));
    assert.deepEqual(refused(state), []);
  });
  it('captures them if foreign addresses are allowed', () => {
    const state = tracker({ allowsForeignAddresses: true });
    update(state, service('x', { external: ['10.20.0.1'] }, old));
    assert.deepEqual(addresses(state, 'x'), ['10.20.0.1']);
    assert.deepEqual(refused(state), []);
  });
  it('updates Services that name addresses when owners change, and no others', () => {
    const state = tracker();
    update(state, service('x', { external: ['192.0.2.7'] }, old));
    update(state, service('plain', {}, old));
    assert.deepEqual(addresses(state, 'x'), ['192.0.2.7']);
    const nodes = [['192.0.2.7', 'b']] as const;
    assert.deepEqual(state.setNode({ ...view, owners: { ...noOwners, nodes } }), ['default/x']);
    assert.deepEqual(state.naming(['192.0.2.7', '192.0.2.8']), ['default/x']);
    update(state, service('x', { external: ['192.0.2.7'] }, old));
    assert.deepEqual(addresses(state, 'x'), []);
  });
  it('gives the address of a load balancer to its Service on all ports, even if older Services name it', () => {
    const state = tracker();
    const thief = service('thief', { external: ['203.0.113.9'] }, old);
    const onAnotherPort = {
      ...thief,
      spec: { ...thief.spec, ports: [{ port: 8080, targetPort: 8080 }] },
    };
    update(state, onAnotherPort);
    assert.deepEqual(addresses(state, 'thief'), ['203.0.113.9']);
    const owner = service('owner', { balancer: ['203.0.113.9'] }, young);
    update(state, owner);
    assert.deepEqual(addresses(state, 'thief'), []);
    assert.deepEqual(addresses(state, 'owner'), ['203.0.113.9']);
    assert.deepEqual(refused(state), [
      'default/thief externalIP 203.0.113.9: it is an address of the load balancer of default/owner',
    ]);
    state.update('default/owner', { slices: [] });
    assert.deepEqual(addresses(state, 'thief'), ['203.0.113.9']);
    assert.deepEqual(refused(state), []);
  });
  it('lets two Services share the address of a load balancer', () => {
    const state = tracker();
    const first = service('first', { balancer: ['203.0.113.9'] }, old);
    update(state, first);
    const second = service('second', { balancer: ['203.0.113.9'] }, young);
    const ports = [{ port: 8080, targetPort: 8080 }];
    update(state, { ...second, spec: { ...second.spec, ports } });
    assert.deepEqual(addresses(state, 'first'), ['203.0.113.9']);
    assert.deepEqual(addresses(state, 'second'), ['203.0.113.9']);
  });
});

describe('createEndpointOwners()', () => {
  const slice = (name: string, ...words: string[]): TrimmedSlice =>
    trimmedSlice(
      words.map((word) => exampleEndpoint(word)),
      { service: name },
    );
  const ownerIn = (slices: readonly TrimmedSlice[], ip: string): string | undefined =>
    createEndpointOwners(() => slices).ownerOf(ip);
  it('recognizes pods by their node', () => {
    const slices = [slice('web', '1.11')];
    const ip = slices[0]?.addresses[0] ?? '';
    assert.equal(ownerIn(slices, ip), 'it is an endpoint of default/web');
    assert.equal(ownerIn(slices, '203.0.113.1'), undefined);
  });
  it('ignores endpoints written by hand, except those of the API server', () => {
    const made = slice('web', '1.11');
    const ip = made.addresses[0] ?? '';
    const facts = made.facts.map((fact) => ({ ...fact, nodeName: '' }));
    assert.equal(ownerIn([{ ...made, facts }], ip), undefined);
    const server = { ...made, facts, serviceKey: 'default/kubernetes' };
    assert.equal(ownerIn([made, server], ip), 'it is an address of the API server');
  });
  it('reads all slices once, and again when a cached address may have changed', () => {
    let passes = 0;
    let slices = [slice('web', '1.11')];
    const ip = slices[0]?.addresses[0] ?? '';
    const owners = createEndpointOwners(() => {
      passes += 1;
      return slices;
    });
    for (let n = 0; n < 100; n += 1) {
      assert.equal(owners.ownerOf(`203.0.113.${n}`), undefined);
      assert.match(owners.ownerOf(ip) ?? '', /default\/web/);
    }
    assert.equal(passes, 1);
    owners.changed(['192.0.2.1']);
    assert.match(owners.ownerOf(ip) ?? '', /default\/web/);
    assert.equal(passes, 1);
    slices = [];
    owners.changed([ip]);
    assert.equal(owners.ownerOf(ip), undefined);
    assert.equal(passes, 2);
  });
});
