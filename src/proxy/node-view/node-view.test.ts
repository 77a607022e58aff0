import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeConfig, type ProxySettings } from '../config.ts';
import type { NodeObject } from './node-object.ts';
import { makeNodeView, type NodeFacts } from './node-view.ts';

function exampleNodeObject(parts: Partial<NodeObject> = {}): NodeObject {
  return {
    metadata: { name: 'n1', labels: { 'topology.kubernetes.io/zone': 'zone-a' } },
    spec: { podCIDR: '10.244.1.0/24', podCIDRs: ['10.244.1.0/24', 'fd44:1::/64'] },
    status: {
      addresses: [
        { type: 'Hostname', address: 'n1' },
        { type: 'ExternalIP', address: '198.51.100.1' },
        { type: 'InternalIP', address: '10.20.0.11' },
        { type: 'InternalIP', address: 'fd20::11' },
      ],
    },
    ...parts,
  };
}

function view(settings: ProxySettings, facts: Partial<NodeFacts> = {}) {
  return makeNodeView(makeConfig(settings), {
    family: 'IPv4',
    nodeName: 'n1',
    node: exampleNodeObject(),
    serviceRanges: [],
    nodes: [],
    ownAddresses: [],
    interfaceAddresses: ['127.0.0.1', '::1', '10.20.0.11', '10.244.1.1', 'fd20::11', 'fe80::1'],
    whenNodePortsUnset: 'all',
    ...facts,
  });
}

describe('makeNodeView() addresses', () => {
  it('has the internal address first, then external ones', () => {
    assert.deepEqual(view({}).node.nodeIPs, ['10.20.0.11', '198.51.100.1']);
    assert.deepEqual(view({}, { family: 'IPv6' }).node.nodeIPs, ['fd20::11']);
  });
  it('has an address given by flag before all others', () => {
    assert.equal(view({ bindAddress: '10.20.0.99' }).node.nodeIPs[0], '10.20.0.99');
    assert.equal(
      view({ bindAddress: '10.20.0.99' }, { family: 'IPv6' }).node.nodeIPs[0],
      'fd20::11',
    );
  });
  it('looks at its interfaces while there is no Node object', () => {
    assert.deepEqual(view({}, { node: undefined }).node.nodeIPs, ['10.20.0.11', '10.244.1.1']);
    assert.deepEqual(view({}, { node: undefined, family: 'IPv6' }).node.nodeIPs, ['fd20::11']);
  });
});

describe('makeNodeView() node port addresses (KPX-30)', () => {
  const cases: readonly (readonly [string, readonly string[], Partial<NodeFacts>, unknown])[] = [
    ['as the mode does when unset', [], {}, 'all'],
    ['as the mode does when unset', [], { whenNodePortsUnset: 'primary' }, ['10.20.0.11']],
    ['the first address', ['primary'], {}, ['10.20.0.11']],
    ['those in a range', ['10.244.0.0/16'], {}, ['10.244.1.1']],
    ['those in several', ['10.244.0.0/16', '127.0.0.0/8'], {}, ['127.0.0.1', '10.244.1.1']],
    ['everywhere', ['10.244.0.0/16', '0.0.0.0/0'], {}, 'all'],
    ['nowhere', ['192.0.2.0/24'], {}, []],
    ['everywhere in the other family', ['10.244.0.0/16'], { family: 'IPv6' }, 'all'],
    [
      'everywhere in the other family',
      ['10.0.0.0/8'],
      { family: 'IPv6', whenNodePortsUnset: 'primary' },
      'all',
    ],
  ];
  for (const [title, nodePortAddresses, facts, expected] of cases) {
    it(`${title}: ${nodePortAddresses.join(', ')}`, () => {
      assert.deepEqual(view({ nodePortAddresses }, facts).node.nodePortAddresses, expected);
    });
  }
});

describe('makeNodeView() local traffic (KPX-22)', () => {
  const clusterCIDRs = ['10.244.0.0/16', 'fd44::/16'];
  const cases: readonly (readonly [string, ProxySettings, Partial<NodeFacts>, unknown])[] = [
    ['nothing known', {}, {}, { kind: 'unknown' }],
    ['cluster ranges', { clusterCIDRs }, {}, { kind: 'cidr', cidr: '10.244.0.0/16' }],
    [
      'cluster ranges, IPv6',
      { clusterCIDRs },
      { family: 'IPv6' },
      { kind: 'cidr', cidr: 'fd44::/16' },
    ],
    ['node ranges', { detectLocalMode: 'NodeCIDR' }, {}, { kind: 'cidr', cidr: '10.244.1.0/24' }],
    [
      'node ranges without node',
      { detectLocalMode: 'NodeCIDR' },
      { node: undefined },
      { kind: 'unknown' },
    ],
    [
      'bridge',
      { detectLocalMode: 'BridgeInterface', bridgeInterface: 'cni0' },
      {},
      { kind: 'interface', name: 'cni0' },
    ],
    [
      'prefix',
      { detectLocalMode: 'InterfaceNamePrefix', interfaceNamePrefix: 'veth' },
      {},
      { kind: 'interface-prefix', prefix: 'veth' },
    ],
  ];
  for (const [title, settings, facts, expected] of cases) {
    it(title, () => assert.deepEqual(view(settings, facts).node.localTraffic, expected));
  }
});

describe('makeNodeView()', () => {
  it('knows the zone, the mark and the service ranges', () => {
    const range = (name: string, ...cidrs: string[]) => ({
      kind: 'ServiceCIDR',
      apiVersion: 'networking.k8s.io/v1',
      metadata: { name },
      spec: { cidrs },
      status: {},
    });
    const serviceRanges = [range('b', '10.97.0.0/16'), range('a', '10.96.0.0/16', 'fd00:96::/108')];
    const { node, zone } = view({ masqueradeBit: 31 }, { serviceRanges });
    assert.equal(zone, 'zone-a');
    assert.equal(node.masqueradeMark, 0x80000000);
    assert.deepEqual(node.serviceCIDRs, ['10.96.0.0/16', '10.97.0.0/16']);
  });
});
