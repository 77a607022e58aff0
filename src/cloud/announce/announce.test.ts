import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EndpointSlice } from '../../kinds/endpoint-slice/types.ts';
import type { Lease } from '../../kinds/lease/types.ts';
import type { Node } from '../../kinds/node/types.ts';
import type { Service } from '../../kinds/service/types.ts';
import { exampleService, type ServiceExample } from '../example.ts';
import { chooseNode, decideAnswerers } from './desired.ts';
import { foreignAddresses } from './foreign-addresses.ts';
import { createHolding, standingOf } from './holding.ts';
import { createLeaseObserver } from './lease-observer.ts';
import { nodesIn, serviceOfSlice, sliceKeyOf, trimSlice } from './local-endpoints.ts';

const nodes = ['n1', 'n2', 'n3', 'n4'];

describe('chooseNode()', () => {
  const addresses = Array.from({ length: 200 }, (_, at) => `172.30.200.${at}`);

  test('spreads addresses over nodes', () => {
    for (const node of nodes) {
      const count = addresses.filter((address) => chooseNode(address, nodes) === node).length;
      assert.ok(count > 25 && count < 75, `${node} has ${count} of 200`);
    }
  });
  test('moves only what the lost node had, and does not depend on an order', () => {
    const left = ['n4', 'n1', 'n3'];
    for (const address of addresses) {
      const before = chooseNode(address, nodes);
      if (before !== 'n2') assert.equal(chooseNode(address, left), before);
      else assert.ok(left.includes(chooseNode(address, left) ?? ''));
    }
  });
  test('finds no node without nodes', () => assert.equal(chooseNode('10.0.0.1', []), undefined));
});

describe('decideAnswerers()', () => {
  const at = (ip: string, example: ServiceExample = {}): Service =>
    exampleService({ ...example, status: { loadBalancer: { ingress: [{ ip, ipMode: 'VIP' }] } } });
  const decide = (services: readonly Service[], endpoints: Record<string, string[]> = {}) =>
    decideAnswerers({
      services,
      nodes,
      nodesWithEndpoints: ({ metadata }) => new Set(endpoints[metadata.name ?? ''] ?? []),
      isForeign: (address) => address === '10.9.9.9',
    });
  const local = { externalTrafficPolicy: 'Local' as const };

  test('finds a node for every address, of both families', () => {
    const status = { loadBalancer: { ingress: [{ ip: '10.0.0.1' }, { ip: 'FD00::1' }] } };
    const answerers = decide([exampleService({ status })]);
    assert.deepEqual([...answerers.keys()], ['10.0.0.1', 'fd00::1']);
    for (const { node } of answerers.values()) assert.ok(nodes.includes(node));
  });

  const cases: readonly [string, Service][] = [
    ['no address', exampleService()],
    ['an address that others own', at('10.9.9.9')],
    ['another type', at('10.0.0.1', { spec: { type: 'ClusterIP' } })],
    ['the class of others', at('10.0.0.1', { spec: { loadBalancerClass: 'example.com/x' } })],
    [
      'mode Proxy (LBC-20)',
      exampleService({
        status: { loadBalancer: { ingress: [{ ip: '10.0.0.1', ipMode: 'Proxy' }] } },
      }),
    ],
    [
      'a name instead of an address',
      exampleService({ status: { loadBalancer: { ingress: [{ hostname: 'a.example.com' }] } } }),
    ],
  ];
  for (const [title, service] of cases) {
    test(`leaves a Service with ${title}`, () => assert.equal(decide([service]).size, 0));
  }

  test('policy Local: only a node with endpoints answers, and none without', () => {
    for (let last = 1; last < 20; last += 1) {
      const service = at(`10.0.0.${last}`, { spec: local });
      assert.equal(decide([service], { web: ['n3'] }).get(`10.0.0.${last}`)?.node, 'n3');
    }
    assert.equal(decide([at('10.0.0.1', { spec: local })]).size, 0);
    assert.equal(decide([at('10.0.0.1', { spec: local })], { web: ['n9'] }).size, 0);
  });

  test('Services that share an address have one node, with endpoints of all where there is one', () => {
    const both = ['a', 'b'].map((name) => at('10.0.0.1', { name, spec: local }));
    const answerer = decide(both, { a: ['n1', 'n2'], b: ['n2', 'n3'] }).get('10.0.0.1');
    assert.equal(answerer?.node, 'n2');
    assert.equal(answerer?.services.length, 2);
    assert.equal(decide(both, { a: ['n1'], b: [] }).get('10.0.0.1')?.node, 'n1');
  });
});

describe('foreignAddresses()', () => {
  const node = {
    metadata: { name: 'n1' },
    spec: { podCIDR: '10.244.1.0/24', podCIDRs: ['10.244.1.0/24', 'fd00:1::/64'] },
    status: { addresses: [{ type: 'InternalIP', address: '192.0.2.1' }] },
  } as unknown as Node;
  const server: EndpointSlice = {
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: {
      ...{ namespace: 'default', name: 'kubernetes' },
      labels: { 'kubernetes.io/service-name': 'kubernetes' },
    },
    addressType: 'IPv4',
    ports: [],
    endpoints: [{ addresses: ['192.0.2.9'], conditions: { ready: true } }],
  };
  const ownerOf = foreignAddresses({ nodes: [node], apiServerSlices: [trimSlice(server)] });
  for (const [address, why] of [
    ['192.0.2.1', 'it is an address of node n1'],
    ['192.0.2.9', 'it is an address of the API server'],
    ['10.244.1.7', 'it lies in the range 10.244.1.0/24 of pods'],
    ['fd00:1::7', 'it lies in the range fd00:1::/64 of pods'],
    ['192.0.2.200', undefined],
  ] as const) {
    test(`says of ${address} ${why ?? 'that no one else owns it'}`, () =>
      assert.equal(ownerOf(address), why));
  }
});

describe('createLeaseObserver()', () => {
  const lease = (node: string, renewTime: string): Lease => ({
    kind: 'Lease',
    apiVersion: 'coordination.k8s.io/v1',
    metadata: { name: node },
    spec: { holderIdentity: node, leaseDurationSeconds: 3, renewTime },
  });

  test('counts from when it saw a renewal, whatever the clocks of others say', () => {
    const leaseObserver = createLeaseObserver();
    leaseObserver.observed(lease('n1', '2036-01-01T00:00:00.000000Z'), 1000);
    assert.deepEqual(leaseObserver.living(3999), ['n1']);
    assert.equal(leaseObserver.nextDeath(1000), 4000);
    assert.deepEqual(leaseObserver.living(4000), []);
    leaseObserver.observed(lease('n1', '2016-01-01T00:00:00.000000Z'), 5000);
    assert.deepEqual(leaseObserver.living(7999), ['n1']);
  });
  test('the same renewal seen again is no sign of life', () => {
    const leaseObserver = createLeaseObserver();
    leaseObserver.observed(lease('n1', 'a'), 1000);
    leaseObserver.observed(lease('n1', 'a'), 3000);
    assert.deepEqual(leaseObserver.living(4000), []);
  });
  test('who gives the lease back is gone at once', () => {
    const leaseObserver = createLeaseObserver();
    leaseObserver.observed(lease('n1', 'a'), 1000);
    leaseObserver.gone(lease('n1', 'a'));
    assert.deepEqual(leaseObserver.living(1001), []);
    assert.equal(leaseObserver.nextDeath(1001), undefined);
  });
});

describe('standingOf()', () => {
  const leaseMs = 3000;
  const cases: readonly [string, number | undefined, number | undefined, string][] = [
    ['a node whose proxy is not ready is out', undefined, 9000, 'out'],
    ['one that renews and sees it is a member', 9000, 9100, 'member'],
    ['one that cannot renew is cut off', 7000, 7100, 'cut-off'],
    ['one that renews but hears nothing is cut off', 9000, 7000, 'cut-off'],
    ['one that has never heard is cut off', 9000, undefined, 'cut-off'],
  ];
  for (const [title, renewedAt, seenAt, want] of cases) {
    test(title, () => assert.equal(standingOf({ now: 10_000, renewedAt, seenAt, leaseMs }), want));
  }
});

describe('createHolding()', () => {
  test('announces what is new three times, a second apart', () => {
    const holding = createHolding();
    assert.deepEqual(holding.set(['a', 'b'], 0), ['a', 'b']);
    assert.deepEqual(holding.due(0), ['a', 'b']);
    assert.deepEqual(holding.due(500), []);
    assert.deepEqual(holding.set(['b', 'c'], 600), ['c']);
    assert.deepEqual(holding.due(1000), ['b', 'c']);
    assert.deepEqual(holding.due(2000), ['b', 'c']);
    assert.deepEqual(holding.due(9000), ['c']);
    assert.deepEqual(holding.due(9999), []);
    assert.deepEqual(holding.addresses(), ['b', 'c']);
  });
  test('gives up only what was claimed since it was cut off', () => {
    const holding = createHolding();
    holding.set(['a', 'b', 'c'], 0);
    holding.claimed('a', 100);
    holding.claimed('b', 300);
    assert.equal(holding.yieldClaimed(200), true);
    assert.deepEqual(holding.addresses(), ['a', 'c']);
    assert.equal(holding.yieldClaimed(200), false);
  });
});

test('nodesIn() finds the nodes of endpoints that are ready, also after trimming', () => {
  const slice: EndpointSlice = {
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: {
      ...{ namespace: 'default', name: 'web-1' },
      labels: { 'kubernetes.io/service-name': 'web' },
    },
    addressType: 'IPv4',
    ports: [],
    endpoints: [
      { addresses: ['10.1.0.1'], conditions: { ready: true }, nodeName: 'n1' },
      { addresses: ['10.1.0.2'], conditions: {}, nodeName: 'n2' },
      { addresses: ['10.1.0.3'], conditions: { ready: false, serving: true }, nodeName: 'n3' },
      { addresses: ['10.1.0.4'], conditions: { ready: true } },
    ],
  };
  assert.deepEqual([...nodesIn([slice])], ['n1', 'n2']);
  assert.deepEqual([...nodesIn([trimSlice(slice)])], ['n1', 'n2']);
  assert.equal(serviceOfSlice(trimSlice(slice)), sliceKeyOf(exampleService()));
});
