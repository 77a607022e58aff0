// The packets that every mode is asked about, each with the behaviour it stands for. packets/reference-model.ts says what is right.
import {
  exampleNode,
  exampleNode6,
  examplePacket,
  exampleServicePort,
  exampleServicePort6,
  exampleState,
  localEndpoint,
  localEndpoint6,
  remoteEndpoint,
} from '../model/example-state.ts';
import type { ProxyState, ServicePort } from '../model/state.ts';
import type { Packet } from '../packets/packet.ts';

export type PacketScenario = {
  readonly title: string;
  readonly state: ProxyState;
  readonly packets: readonly { readonly what: string; readonly packet: Packet }[];
};

/** Who sends: a pod of this node, the node itself, a client outside; everything else is `to`. */
const senders: Readonly<Record<string, Partial<Packet>>> = {
  'from a pod': {},
  'from the endpoint itself': { source: localEndpoint.ip },
  'from the node': { origin: 'local', source: '10.20.0.11', isFromNode: true },
  'from outside': { source: '10.20.0.100', inputInterface: 'eth0' },
  'from outside, elsewhere': { source: '192.0.2.77', inputInterface: 'eth0' },
  'from a pod of another node': { source: '10.244.2.50', inputInterface: 'eth0' },
};

const senders6: Readonly<Record<string, Partial<Packet>>> = {
  'from a pod': { source: 'fd44:1::50' },
  'from the endpoint itself': { source: localEndpoint6.ip },
  'from the node': { origin: 'local', source: 'fd20::11', isFromNode: true },
  'from outside': { source: 'fd20::100', inputInterface: 'eth0' },
};

function fromAll(to: Partial<Packet> = {}): PacketScenario['packets'] {
  return Object.entries(senders).map(([what, sender]) => ({ what, packet: packetOf(sender, to) }));
}

function fromAll6(to: Partial<Packet>): PacketScenario['packets'] {
  return Object.entries(senders6).map(([what, sender]) => ({
    what,
    packet: packetOf(sender, { family: 'IPv6', ...to }),
  }));
}

function packetOf(sender: Partial<Packet>, to: Partial<Packet>): Packet {
  const { inputInterface, ...packet } = examplePacket({ ...sender, ...to });
  return packet.origin === 'local'
    ? packet
    : { ...packet, inputInterface: inputInterface ?? 'pods' };
}

const external = exampleServicePort({
  nodePort: 30080,
  externalIPs: ['203.0.113.1'],
  loadBalancerIPs: ['203.0.113.2'],
});
const toNodePort = { destination: '10.20.0.11', destinationPort: 30080, isToNode: true };
const toBridge = { ...toNodePort, destination: '10.244.1.1' };
const toLoopback: Packet = {
  ...examplePacket(),
  ...toNodePort,
  ...senders['from the node'],
  source: '127.0.0.1',
  destination: '127.0.0.1',
};
const none = { clusterEndpoints: [], localEndpoints: [], hasEndpoints: false } as const;
const elsewhere = { clusterEndpoints: [remoteEndpoint], localEndpoints: [] } as const;

/** Every entrance of `external`, from everybody. */
function allEntrances(port: Partial<ServicePort>): Pick<PacketScenario, 'state' | 'packets'> {
  return {
    state: exampleState([{ ...external, ...port }]),
    packets: [
      ...fromAll(),
      ...fromAll({ destination: '203.0.113.1' }),
      ...fromAll({ destination: '203.0.113.2' }),
      ...fromAll(toNodePort),
    ],
  };
}

export const packetScenarios: readonly PacketScenario[] = [
  { title: 'spreads over all endpoints (KPX-19, KPX-20, KPX-21, NPT-18)', ...allEntrances({}) },
  {
    title: 'masquerades all traffic to cluster IPs with masqueradeAll (KPX-20)',
    state: exampleState([external], exampleNode({ masqueradeAll: true })),
    packets: fromAll(),
  },
  ...(['interface', 'interface-prefix', 'unknown'] as const).map((kind) => ({
    title: `recognizes pods by ${kind} (KPX-22)`,
    state: exampleState(
      [{ ...external, externalPolicy: 'Local' }],
      exampleNode({
        localTraffic:
          kind === 'interface'
            ? { kind, name: 'pods' }
            : kind === 'unknown'
              ? { kind }
              : { kind, prefix: 'po' },
      }),
    ),
    packets: [
      ...fromAll(),
      ...fromAll({ destination: '203.0.113.1' }),
      { what: 'by a longer name', packet: packetOf({ inputInterface: 'pods2' }, {}) },
    ],
  })),
  { title: 'rejects when there are no endpoints (KPX-16)', ...allEntrances(none) },
  {
    title: 'keeps to the node under policy Local (KPX-14, KPX-15, KPX-17)',
    ...allEntrances({ internalPolicy: 'Local', externalPolicy: 'Local' }),
  },
  {
    title: 'drops under policy Local when endpoints are elsewhere (KPX-14, KPX-15, KPX-17)',
    ...allEntrances({ internalPolicy: 'Local', externalPolicy: 'Local', ...elsewhere }),
  },
  {
    title: 'external policy Local and internal Cluster (KPX-15)',
    ...allEntrances({ externalPolicy: 'Local' }),
  },
  {
    title: 'rejects under policy Local when there are none anywhere (KPX-16)',
    ...allEntrances({ internalPolicy: 'Local', externalPolicy: 'Local', ...none }),
  },
  {
    title: 'checks source ranges of balancer addresses only (KPX-28)',
    ...allEntrances({ sourceRanges: ['10.20.0.0/24', '10.20.0.100/32'] }),
  },
  {
    title: 'allows no client with an empty list of source ranges (KPX-28)',
    ...allEntrances({ sourceRanges: [] }),
  },
  {
    title: 'checks source ranges without endpoints as the mode does (NFT-07, IPT-10)',
    ...allEntrances({ sourceRanges: ['10.20.0.0/24'], ...none }),
  },
  {
    title: 'checks source ranges under policy Local (KPX-28)',
    ...allEntrances({ sourceRanges: ['10.20.0.0/24'], externalPolicy: 'Local', ...elsewhere }),
  },
  {
    title: 'lets the balancer address itself in where the node may (KPX-29)',
    state: exampleState([
      { ...external, sourceRanges: ['192.0.2.0/24'], allowsBalancerItself: true },
    ]),
    packets: [
      {
        what: 'from its own address',
        packet: packetOf(
          { origin: 'local', source: '203.0.113.2', isFromNode: true },
          { destination: '203.0.113.2' },
        ),
      },
      ...fromAll({ destination: '203.0.113.2' }),
    ],
  },
  {
    title: 'sticks clients to endpoints, at first like others (KPX-23)',
    ...allEntrances({ affinitySeconds: 10 }),
  },
  {
    title: 'sticks under policy Local (KPX-23)',
    ...allEntrances({ affinitySeconds: 10, externalPolicy: 'Local' }),
  },
  {
    title: 'node ports on the chosen addresses only (KPX-30, KPX-31)',
    state: exampleState([external], exampleNode({ nodePortAddresses: ['10.20.0.11'] })),
    packets: [
      ...fromAll(toNodePort),
      ...fromAll(toBridge),
      { what: 'loopback', packet: toLoopback },
    ],
  },
  {
    title: 'node ports on no address (KPX-30)',
    state: exampleState([external], exampleNode({ nodePortAddresses: [] })),
    packets: fromAll(toNodePort),
  },
  {
    title: 'node ports everywhere, on loopback as the mode can (KPX-30, IPT-09, NFT-08)',
    state: exampleState([external]),
    packets: [
      ...fromAll(toNodePort),
      ...fromAll(toBridge),
      { what: 'loopback', packet: toLoopback },
    ],
  },
  {
    title: 'node ports are no ports of other addresses (KPX-31)',
    state: exampleState([external]),
    packets: fromAll({ destination: '203.0.113.1', destinationPort: 30080 }),
  },
  {
    title: 'handles unused ports and addresses (NFT-06)',
    state: exampleState([external]),
    packets: [
      ...fromAll({ destinationPort: 81 }),
      ...fromAll({ protocol: 'UDP' }),
      ...fromAll({ destination: '10.96.7.7' }),
      ...fromAll({ destination: '203.0.113.1', destinationPort: 81 }),
      ...fromAll({ destination: '192.0.2.1' }),
    ],
  },
  {
    title: 'one address for services of different ports and protocols (KPX-26)',
    state: exampleState([
      external,
      exampleServicePort({
        name: 'tls',
        port: 443,
        externalIPs: ['203.0.113.1'],
        clusterIP: '10.96.0.21',
      }),
      exampleServicePort({
        name: 'quic',
        protocol: 'UDP',
        clusterIP: '10.96.0.22',
        externalIPs: ['203.0.113.1'],
        nodePort: 30080,
        ...none,
      }),
    ]),
    packets: [
      ...fromAll({ destination: '203.0.113.1' }),
      ...fromAll({ destination: '203.0.113.1', destinationPort: 443 }),
      ...fromAll({ destination: '203.0.113.1', protocol: 'UDP' }),
      ...fromAll({ ...toNodePort, protocol: 'UDP' }),
    ],
  },
  {
    title: 'an external address that is an address of the node (KPX-26)',
    state: exampleState([{ ...external, externalIPs: ['10.20.0.11'] }]),
    packets: fromAll({ destination: '10.20.0.11', isToNode: true }),
  },
  {
    title: 'SCTP like the others',
    state: exampleState([exampleServicePort({ protocol: 'SCTP' })]),
    packets: fromAll({ protocol: 'SCTP' }),
  },
  {
    title: 'IPv6 like IPv4, but for loopback (KPX-51, IPT-09)',
    state: exampleState(
      [
        exampleServicePort6({
          nodePort: 30080,
          externalIPs: ['2001:db8::1'],
          loadBalancerIPs: ['2001:db8::2'],
          sourceRanges: ['fd20::/64'],
          externalPolicy: 'Local',
        }),
      ],
      exampleNode6(),
    ),
    packets: [
      ...fromAll6({ destination: 'fd00:96::20' }),
      ...fromAll6({ destination: '2001:db8::1' }),
      ...fromAll6({ destination: '2001:db8::2' }),
      ...fromAll6({ ...toNodePort, destination: 'fd20::11' }),
      ...fromAll6({ destination: 'fd00:96::99' }),
      {
        what: 'loopback',
        packet: { ...toLoopback, family: 'IPv6', source: '::1', destination: '::1' },
      },
    ],
  },
];
