import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  exampleNode,
  exampleServicePort,
  localEndpoint,
  remoteEndpoint,
} from '../../model/example-state.ts';
import type { NodeState, ServicePort } from '../../model/state.ts';
import { nodeChains } from './chains.ts';
import { desiredForPort } from './desired.ts';

const external = {
  nodePort: 30080,
  externalIPs: ['203.0.113.1'],
  loadBalancerIPs: ['203.0.113.2'],
} as const;

type Wanted = {
  readonly servers: readonly string[];
  readonly addresses: readonly string[];
  readonly elements: readonly string[];
};

function desired(
  port: Partial<ServicePort>,
  { scheduler = 'rr', ...node }: Partial<NodeState> & { scheduler?: string } = {},
): Wanted {
  const items = desiredForPort(exampleServicePort(port), exampleNode(node), scheduler);
  return {
    servers: items.flatMap(({ server }) => {
      if (server === undefined) return [];
      const { address, port: at, protocol, ...how } = server.service;
      const to = server.realServers.map((one) => `${one.address}:${one.port}`);
      return [`${protocol} ${address}:${at} ${Object.values(how).join(' ')} -> ${to.join(' ')}`];
    }),
    addresses: items.flatMap(({ address }) => address ?? []),
    elements: items.flatMap(({ entries }) =>
      entries.map(({ set, element }) => {
        const data = element.data === undefined ? '' : ` : ${JSON.stringify(element.data)}`;
        return `${set.name} ${element.key.join(' . ')}${data}`;
      }),
    ),
  };
}

const here = `${localEndpoint.ip}:${localEndpoint.port}`;
const there = `${remoteEndpoint.ip}:${remoteEndpoint.port}`;

describe('desiredForPort()', () => {
  it('has a server at every address, and node ports at every address of the node (IVS-01, IVS-02)', () => {
    const { servers, addresses } = desired(external);
    assert.deepEqual(servers.toSorted(), [
      `TCP 10.20.0.11:30080 rr -> ${here} ${there}`,
      `TCP 10.244.1.1:30080 rr -> ${here} ${there}`,
      `TCP 10.96.0.20:80 rr -> ${here} ${there}`,
      `TCP 203.0.113.1:80 rr -> ${here} ${there}`,
      `TCP 203.0.113.2:80 rr -> ${here} ${there}`,
    ]);
    assert.deepEqual(addresses, ['10.96.0.20', '203.0.113.1', '203.0.113.2']);
  });

  it('sticks by persistence (IVS-04), and mh hashes the source port (IVS-03)', () => {
    assert.deepEqual(desired({ affinitySeconds: 60 }).servers, [
      `TCP 10.96.0.20:80 rr 60 -> ${here} ${there}`,
    ]);
    assert.deepEqual(desired({}, { scheduler: 'mh' }).servers, [
      `TCP 10.96.0.20:80 mh true -> ${here} ${there}`,
    ]);
  });

  it('does not bind an address that another interface has (IVS-01)', () => {
    const { servers, addresses } = desired({ externalIPs: ['10.20.0.11'] });
    assert.equal(servers.length, 2);
    assert.deepEqual(addresses, ['10.96.0.20']);
  });

  it('has no node port on loopback (IVS-12)', () => {
    const { servers } = desired(
      { nodePort: 30080 },
      { nodePortAddresses: ['127.0.0.1', '10.20.0.11'] },
    );
    assert.deepEqual(servers.slice(1), [`TCP 10.20.0.11:30080 rr -> ${here} ${there}`]);
  });

  it('keeps a server without endpoints (IVS-09)', () => {
    const none = { clusterEndpoints: [], localEndpoints: [], hasEndpoints: false };
    const { servers, elements } = desired(none);
    assert.deepEqual(servers, ['TCP 10.96.0.20:80 rr -> ']);
    assert.deepEqual(
      elements.filter((one) => one.startsWith('dropped')),
      [],
    );
  });
});

describe('desiredForPort(), around the servers', () => {
  it('leads pods and the node past policy Local (KPX-17)', () => {
    const { servers, elements } = desired({
      externalIPs: ['203.0.113.1'],
      externalPolicy: 'Local',
    });
    assert.ok(servers.includes(`TCP 203.0.113.1:80 rr -> ${here}`));
    assert.deepEqual(
      elements.filter((one) => /^(local|short|external|dropped)/.test(one)),
      [
        'local-servers 203.0.113.1 . tcp . 80',
        'short-circuits 203.0.113.1 . tcp . 80 : {"kind":"goto","chain":"choose-2"}',
        'short-circuit-endpoints 203.0.113.1 . tcp . 80 . 0 : ["10.244.1.11",9376]',
        'short-circuit-endpoints 203.0.113.1 . tcp . 80 . 1 : ["10.244.2.13",9376]',
      ],
    );
  });

  it('drops what has endpoints elsewhere only (KPX-14)', () => {
    const { elements } = desired({
      internalPolicy: 'Local',
      clusterEndpoints: [remoteEndpoint],
      localEndpoints: [],
    });
    assert.ok(elements.includes('dropped-servers 10.96.0.20 . tcp . 80'));
  });

  it('lists source ranges of balancer addresses without overlap (KPX-28, KPX-29)', () => {
    const { elements } = desired({
      loadBalancerIPs: ['203.0.113.2'],
      sourceRanges: ['10.20.0.0/24', '10.20.0.100/32'],
      allowsBalancerItself: true,
    });
    assert.deepEqual(
      elements.filter((one) => /^(firewalled|source)/.test(one)),
      [
        'firewalled-servers 203.0.113.2 . tcp . 80',
        'source-ranges 203.0.113.2 . tcp . 80 . 10.20.0.0/24',
        'source-ranges 203.0.113.2 . tcp . 80 . 203.0.113.2',
      ],
    );
  });

  it('masquerades endpoints of this node that reach themselves, the node only where needed (KPX-21)', () => {
    const onNode = { ip: '10.20.0.11', port: 80, isLocal: true };
    const hairpins = (node: Partial<NodeState>): readonly string[] =>
      desired({ clusterEndpoints: [localEndpoint, onNode, remoteEndpoint] }, node)
        .elements.filter((one) => one.startsWith('hairpin'))
        .map((one) => one.split(' ')[1] ?? '');
    assert.deepEqual(new Set(hairpins({})), new Set(['10.244.1.11']));
    assert.deepEqual(
      new Set(hairpins({ localTraffic: { kind: 'unknown' } })),
      new Set(['10.244.1.11', '10.20.0.11']),
    );
  });
});

const local = { externalPolicy: 'Local' } as const;
/** Each of upstream's ipsets, a port that is in it, and where it stands here. */
const upstreamSets: readonly (readonly [string, Partial<ServicePort>, string])[] = [
  ['KUBE-LOOP-BACK', {}, 'hairpin-connections 10.244.1.11 . 10.244.1.11 . tcp . 9376'],
  ['KUBE-CLUSTER-IP', {}, 'internal-servers 10.96.0.20 . tcp . 80'],
  ['KUBE-IPVS-IPS', {}, 'service-ips 10.96.0.20'],
  ['KUBE-EXTERNAL-IP', external, 'external-servers 203.0.113.1 . tcp . 80'],
  ['KUBE-EXTERNAL-IP-LOCAL', { ...external, ...local }, 'local-servers 203.0.113.1 . tcp . 80'],
  ['KUBE-LOAD-BALANCER', external, 'external-servers 203.0.113.2 . tcp . 80'],
  ['KUBE-LOAD-BALANCER-LOCAL', { ...external, ...local }, 'local-servers 203.0.113.2 . tcp . 80'],
  [
    'KUBE-LOAD-BALANCER-FW',
    { ...external, sourceRanges: ['10.20.0.0/24'] },
    'firewalled-servers 203.0.113.2 . tcp . 80',
  ],
  [
    'KUBE-LOAD-BALANCER-SOURCE-CIDR',
    { ...external, sourceRanges: ['10.20.0.0/24'] },
    'source-ranges 203.0.113.2 . tcp . 80 . 10.20.0.0/24',
  ],
  [
    'KUBE-LOAD-BALANCER-SOURCE-IP',
    { ...external, sourceRanges: ['10.20.0.0/24'], allowsBalancerItself: true },
    'source-ranges 203.0.113.2 . tcp . 80 . 203.0.113.2',
  ],
  ['KUBE-NODE-PORT-TCP', external, 'external-servers 10.20.0.11 . tcp . 30080'],
  ['KUBE-NODE-PORT-LOCAL-TCP', { ...external, ...local }, 'local-servers 10.20.0.11 . tcp . 30080'],
  [
    'KUBE-NODE-PORT-UDP',
    { ...external, protocol: 'UDP' },
    'external-servers 10.20.0.11 . udp . 30080',
  ],
  [
    'KUBE-NODE-PORT-LOCAL-UDP',
    { ...external, ...local, protocol: 'UDP' },
    'local-servers 10.20.0.11 . udp . 30080',
  ],
  [
    'KUBE-NODE-PORT-SCTP-HASH',
    { ...external, protocol: 'SCTP' },
    'external-servers 10.20.0.11 . sctp . 30080',
  ],
];

describe('the sets that drive a fixed set of rules (IVS-06)', () => {
  for (const [name, port, element] of upstreamSets) {
    it(`has what upstream has in ${name}`, () => {
      const { elements } = desired(port);
      assert.ok(elements.includes(element), elements.join('\n'));
    });
  }

  it('are all that a service changes: rules depend on the node alone', () => {
    const { elements } = desired({ ...external, sourceRanges: ['10.20.0.0/24'] });
    const written = new Set(elements.map((one) => one.split(' ')[0]));
    const nodes = [exampleNode(), exampleNode({ localTraffic: { kind: 'unknown' } })];
    const statements = nodes.flatMap(nodeChains).flatMap(({ rules }) => rules.flat());
    const requested = new Set(statements.flatMap((one) => ('set' in one ? one.set : [])));
    assert.deepEqual(
      [...written].filter((name) => name === undefined || !requested.has(name)),
      [],
    );
  });
});
