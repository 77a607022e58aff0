import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCidr } from '../../ip/cidr.ts';
import type { Node } from '../../kinds/node/types.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { desiredNetwork, macAddressFor, podRangesOf, portName } from './desired.ts';
import { type ActualNetwork, diffNetwork, diffToNothing, type NetworkChange } from './diff.ts';
import { conflictingPort, hostPortsOf } from './host-ports.ts';

function node(name: string, podCIDRs: readonly string[], ips: readonly string[]): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    spec: { podCIDRs },
    status: {
      addresses: [
        ...ips.map((address) => ({ type: 'InternalIP', address })),
        { type: 'Hostname', address: name },
      ],
    },
  } as unknown as Node;
}

const own = node('n1', ['10.244.1.0/24', 'fd44:0:0:1::/64'], ['172.30.0.11', 'fd30::11']);
const other = node('n2', ['10.244.2.0/24', 'fd44:0:0:2::/64'], ['172.30.0.12', 'fd30::12']);
const single = node('n3', ['10.244.3.0/24', 'fd44:0:0:3::/64'], ['172.30.0.13']);
const fresh = node('n4', [], ['172.30.0.14']);

const wanted = desiredNetwork({
  nodeName: 'n1',
  nodes: [own, other, single, fresh],
  ranges: podRangesOf(own),
  hostPorts: [],
  bridge: { name: 'fairlead0', mtu: 1450 },
});

test('desiredNetwork() gives the bridge the gateways and a fixed MAC address', () => {
  assert.deepEqual(wanted.bridge, {
    name: 'fairlead0',
    mtu: 1450,
    macAddress: '0a:58:0a:f4:01:01',
    addresses: ['10.244.1.1/24', 'fd44:0:0:1::1/64'],
  });
  assert.equal(macAddressFor('fd44::1:2'), '0a:58:00:01:00:02');
});

test('desiredNetwork() routes pods of other nodes through their address of the same family', () => {
  assert.deepEqual(wanted.routes, [
    { destination: '10.244.2.0/24', gateway: '172.30.0.12' },
    { destination: 'fd44:0:0:2::/64', gateway: 'fd30::12' },
    { destination: '10.244.3.0/24', gateway: '172.30.0.13' },
  ]);
});

test('desiredNetwork() does not masquerade traffic to pods and nodes of the cluster', () => {
  assert.deepEqual(wanted.rules.IPv6, {
    bridge: 'fairlead0',
    own: ['fd44:0:0:1::/64'],
    inside: [
      'fd44:0:0:1::/64',
      'fd44:0:0:2::/64',
      'fd44:0:0:3::/64',
      'fd44:0:0:1::/64',
      'fd30::11',
      'fd30::12',
      'ff00::/8',
    ],
    hostPorts: [],
  });
  assert.ok(wanted.rules.IPv4.inside.includes('172.30.0.14'));
});

test('podRangesOf() omits ranges without room for a pod', () => {
  const texts = podRangesOf({ spec: { podCIDRs: ['10.0.0.0/31', 'fd44::/64', 'x'] } });
  assert.deepEqual(texts, [parseCidr('fd44::/64')]);
});

test('portName() has at most 15 characters and differs for different uids', () => {
  const uid = '0a1b2c3d-0000-4000-8000-00000000abcd';
  assert.equal(portName(uid), 'fpod0000000abcd');
  assert.equal(portName('u1'), 'fpodu1');
});

const bridge = { name: 'fairlead0', kind: 'bridge', isUp: true, mtu: 1450 };
const synced: ActualNetwork = {
  links: [
    { ...bridge, macAddress: '0a:58:0a:f4:01:01' },
    { name: 'fpoda', kind: 'veth', isUp: true, mtu: 1450 },
    { name: 'flannel.1', kind: 'vxlan', isUp: true, mtu: 1450 },
  ],
  bridgeAddresses: ['10.244.1.1/24', 'fd44:0:0:1::1/64'],
  routes: wanted.routes,
};
const ports = new Set(['fpoda']);

const cases: readonly {
  name: string;
  actual: Partial<ActualNetwork>;
  changes: readonly NetworkChange[];
}[] = [
  { name: 'returns nothing if the network is as desired', actual: {}, changes: [] },
  {
    name: 'creates everything from scratch',
    actual: { links: [], bridgeAddresses: [], routes: [] },
    changes: [
      { kind: 'add-bridge', bridge: wanted.bridge },
      ...wanted.bridge.addresses.map((address) => ({ kind: 'add-address' as const, address })),
      ...wanted.routes.map((route) => ({ kind: 'set-route' as const, route })),
    ],
  },
  {
    name: 'repairs a bridge that is down',
    actual: { links: [{ ...bridge, isUp: false, macAddress: '0a:58:0a:f4:01:01' }] },
    changes: [{ kind: 'change-bridge', bridge: wanted.bridge }],
  },
  {
    name: 'deletes interfaces of deleted pods only',
    actual: {
      links: [...synced.links, { name: 'fpodb', kind: 'veth', isUp: true, mtu: 1450 }],
    },
    changes: [{ kind: 'delete-link', name: 'fpodb' }],
  },
  {
    name: 'replaces outdated addresses and routes',
    actual: {
      bridgeAddresses: ['10.244.9.1/24', 'fd44:0:0:1::1/64'],
      routes: [
        { destination: '10.244.9.0/24', gateway: '172.30.0.19' },
        { destination: '10.244.2.0/24', gateway: '172.30.0.99' },
        ...wanted.routes.slice(1),
      ],
    },
    changes: [
      { kind: 'add-address', address: '10.244.1.1/24' },
      { kind: 'delete-address', address: '10.244.9.1/24' },
      { kind: 'delete-route', route: { destination: '10.244.9.0/24', gateway: '172.30.0.19' } },
      { kind: 'set-route', route: { destination: '10.244.2.0/24', gateway: '172.30.0.12' } },
    ],
  },
];
for (const { name, actual, changes } of cases) {
  test(`diffNetwork() ${name}`, () => {
    assert.deepEqual(diffNetwork(wanted, { ...synced, ...actual }, ports), changes);
  });
}

test('diffToNothing() deletes only our bridge, interfaces and routes', () => {
  assert.deepEqual(diffToNothing('fairlead0', { ...synced, routes: wanted.routes.slice(0, 1) }), [
    { kind: 'delete-link', name: 'fpoda' },
    { kind: 'delete-route', route: wanted.routes[0] },
    { kind: 'delete-link', name: 'fairlead0' },
  ]);
});

const podWith = (...list: readonly object[]): Pod =>
  ({ spec: { containers: [{ name: 'c', ports: list }] } }) as unknown as Pod;
const ips = ['10.244.1.5', 'fd44:0:0:1::5'];

test('hostPortsOf() maps each family to the pod’s address of that family', () => {
  assert.deepEqual(hostPortsOf(podWith({ containerPort: 80 }), ips), []);
  assert.deepEqual(
    hostPortsOf(podWith({ containerPort: 53, hostPort: 5353, protocol: 'UDP' }), ips),
    [
      { protocol: 'udp', port: 5353, podIP: ips[0], podPort: 53 },
      { protocol: 'udp', port: 5353, podIP: ips[1], podPort: 53 },
    ],
  );
  assert.deepEqual(
    hostPortsOf(podWith({ containerPort: 80, hostPort: 80, hostIP: '172.30.0.11' }), ips),
    [{ hostIP: '172.30.0.11', protocol: 'tcp', port: 80, podIP: ips[0], podPort: 80 }],
  );
  assert.deepEqual(hostPortsOf(podWith({ containerPort: 80, hostPort: 80, hostIP: '::' }), ips), [
    { protocol: 'tcp', port: 80, podIP: ips[1], podPort: 80 },
  ]);
});

test('conflictingPort() finds a host port that is in use', () => {
  const ports = (more: object) => hostPortsOf(podWith({ containerPort: 1, ...more }), ips);
  const first = ports({ hostPort: 80 });
  assert.equal(conflictingPort(ports({ hostPort: 80 }), first)?.port, 80);
  assert.equal(conflictingPort(ports({ hostPort: 80, hostIP: '172.30.0.11' }), first)?.port, 80);
  assert.equal(conflictingPort(ports({ hostPort: 80, protocol: 'UDP' }), first), undefined);
  assert.equal(conflictingPort(ports({ hostPort: 81 }), first), undefined);
  const one = ports({ hostPort: 80, hostIP: '172.30.0.11' });
  assert.equal(conflictingPort(ports({ hostPort: 80, hostIP: '172.30.0.12' }), one), undefined);
});
