import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  exampleNode,
  examplePacket,
  exampleServicePort,
  exampleState,
  localEndpoint,
  remoteEndpoint,
} from '../model/example-state.ts';
import type { Endpoint, NodeState, ServicePort } from '../model/state.ts';
import type { ModeTraits } from '../modes/mode.ts';
import type { Packet, Verdict } from './packet.ts';
import { judgePacket } from './reference-model.ts';

const nftables: ModeTraits = {
  unusedPortOfClusterIP: 'reject',
  unusedServiceIP: 'drop',
  nodePortOnLoopback: false,
  checksSourceRangesWithoutEndpoints: true,
  noLocalEndpoint: 'drop',
  relayedProtocols: [],
  defaultNodePortAddresses: 'primary',
};
const iptables: ModeTraits = {
  ...nftables,
  unusedPortOfClusterIP: 'pass',
  unusedServiceIP: 'pass',
  nodePortOnLoopback: true,
  checksSourceRangesWithoutEndpoints: false,
  defaultNodePortAddresses: 'all',
};

/** `= a b`: translated to them, `!` where the source changes. */
function shown(verdict: Verdict): string {
  if (verdict.kind !== 'translate') return verdict.kind;
  return `= ${verdict.destinations
    .map(({ ip, isMasqueraded }) => `${isMasqueraded ? '!' : ''}${ip.slice(7)}`)
    .join(' ')}`;
}

const external: Partial<ServicePort> = {
  nodePort: 30080,
  externalIPs: ['203.0.113.1'],
  loadBalancerIPs: ['203.0.113.2'],
};
const localPolicy: Partial<ServicePort> = { ...external, externalPolicy: 'Local' };
const filtered: Partial<ServicePort> = { ...external, sourceRanges: ['10.20.0.0/24'] };
const none: Partial<ServicePort> = {
  clusterEndpoints: [],
  localEndpoints: [],
  hasEndpoints: false,
};
const elsewhere: Partial<ServicePort> = { clusterEndpoints: [remoteEndpoint], localEndpoints: [] };

const outside: Partial<Packet> = { source: '10.20.0.100', inputInterface: 'eth0' };
const outsider: Partial<Packet> = { source: '192.0.2.77', inputInterface: 'eth0' };
const fromNode: Partial<Packet> = { origin: 'local', source: '10.20.0.11', isFromNode: true };
const toExternal: Partial<Packet> = { destination: '203.0.113.1' };
const toBalancer: Partial<Packet> = { destination: '203.0.113.2' };
const toNodePort: Partial<Packet> = {
  destination: '10.20.0.11',
  destinationPort: 30080,
  isToNode: true,
};
const onLoopback: Partial<Packet> = {
  ...fromNode,
  ...toNodePort,
  source: '127.0.0.1',
  destination: '127.0.0.1',
};

type Case = {
  readonly title: string;
  readonly port?: Partial<ServicePort>;
  readonly node?: Partial<NodeState>;
  readonly packet?: Partial<Packet>;
  readonly traits?: ModeTraits;
  readonly expected: string;
};

const cases: readonly Case[] = [
  { title: 'a pod keeps its address (KPX-19)', expected: '= 1.11 2.13' },
  { title: 'an outside client does not (KPX-20)', packet: outside, expected: '= !1.11 !2.13' },
  { title: 'nor does the node (KPX-20)', packet: fromNode, expected: '= !1.11 !2.13' },
  {
    title: 'no source is kept with masqueradeAll (KPX-20)',
    node: { masqueradeAll: true },
    expected: '= !1.11 !2.13',
  },
  {
    title: 'all sources are kept if pods cannot be recognized (KPX-22)',
    node: { localTraffic: { kind: 'unknown' } },
    packet: outside,
    expected: '= 1.11 2.13',
  },
  {
    title: 'pods by interface (KPX-22)',
    node: { localTraffic: { kind: 'interface', name: 'pods' } },
    packet: { source: '192.0.2.9' },
    expected: '= 1.11 2.13',
  },
  {
    title: 'not by the beginning of its name (KPX-22)',
    node: { localTraffic: { kind: 'interface', name: 'pod' } },
    expected: '= !1.11 !2.13',
  },
  {
    title: 'by the beginning of its name (KPX-22)',
    node: { localTraffic: { kind: 'interface-prefix', prefix: 'po' } },
    expected: '= 1.11 2.13',
  },
  {
    title: 'an endpoint that reaches itself (KPX-21)',
    packet: { source: localEndpoint.ip },
    expected: '= !1.11 2.13',
  },
  { title: 'no endpoints (KPX-16)', port: none, expected: 'reject' },
  {
    title: 'no endpoints, node port (KPX-16)',
    port: { ...external, ...none },
    packet: { ...outside, ...toNodePort },
    expected: 'reject',
  },
  {
    title: 'internal policy Local (KPX-14)',
    port: { internalPolicy: 'Local' },
    expected: '= 1.11',
  },
  {
    title: 'internal policy Local, all elsewhere (KPX-14)',
    port: { internalPolicy: 'Local', ...elsewhere },
    expected: 'drop',
  },
  {
    title: 'external policy Cluster (KPX-18)',
    port: external,
    packet: { ...outside, ...toExternal },
    expected: '= !1.11 !2.13',
  },
  {
    title: 'external policy Cluster, from a pod (KPX-18)',
    port: external,
    packet: toNodePort,
    expected: '= !1.11 !2.13',
  },
  {
    title: 'external policy Local (KPX-15)',
    port: localPolicy,
    packet: { ...outside, ...toNodePort },
    expected: '= 1.11',
  },
  {
    title: 'external policy Local, all elsewhere (KPX-15)',
    port: { ...localPolicy, ...elsewhere },
    packet: { ...outside, ...toBalancer },
    expected: 'drop',
  },
  {
    title: 'external policy Local, from a pod (KPX-17)',
    port: { ...localPolicy, ...elsewhere },
    packet: toExternal,
    expected: '= 2.13',
  },
  {
    title: 'external policy Local, from the node (KPX-17)',
    port: localPolicy,
    packet: { ...fromNode, ...toExternal },
    expected: '= !1.11 !2.13',
  },
  {
    title: 'both policies Local, all elsewhere: a pod still gets there from outside (KPX-17)',
    port: { ...localPolicy, ...elsewhere, internalPolicy: 'Local' },
    packet: toNodePort,
    expected: '= 2.13',
  },
  {
    title: 'external policy Local, an endpoint that reaches itself (KPX-17, KPX-21)',
    port: localPolicy,
    packet: { ...toNodePort, source: localEndpoint.ip },
    expected: '= !1.11 2.13',
  },
  {
    title: 'external policy Local, on loopback (KPX-17, IPT-09)',
    port: { ...localPolicy, ...elsewhere },
    packet: onLoopback,
    traits: iptables,
    expected: '= !2.13',
  },
  {
    title: 'no endpoints, from the node to an address outside (KPX-16)',
    port: { ...external, ...none },
    packet: { ...fromNode, ...toExternal },
    expected: 'reject',
  },
  {
    title: 'source ranges let in (KPX-28)',
    port: filtered,
    packet: { ...outside, ...toBalancer },
    expected: '= !1.11 !2.13',
  },
  {
    title: 'source ranges keep out (KPX-28)',
    port: filtered,
    packet: { ...outsider, ...toBalancer },
    expected: 'drop',
  },
  {
    title: 'source ranges are not for external IPs (KPX-28)',
    port: filtered,
    packet: { ...outsider, ...toExternal },
    expected: '= !1.11 !2.13',
  },
  {
    title: 'source ranges are not for node ports (KPX-28)',
    port: filtered,
    packet: { ...outsider, ...toNodePort },
    expected: '= !1.11 !2.13',
  },
  {
    title: 'source ranges keep pods out too (KPX-28)',
    port: filtered,
    packet: toBalancer,
    expected: 'drop',
  },
  {
    title: 'source ranges let the node in by its own address (KPX-28)',
    port: { ...filtered, externalPolicy: 'Local' },
    packet: { ...fromNode, ...toBalancer },
    expected: '= !1.11 !2.13',
  },
  {
    title: 'the balancer itself (KPX-29)',
    port: { ...filtered, allowsBalancerItself: true },
    packet: { ...fromNode, ...toBalancer, source: '203.0.113.2' },
    expected: '= !1.11 !2.13',
  },
  {
    title: 'source ranges before no endpoints (NFT-07)',
    port: { ...filtered, ...none },
    packet: { ...outsider, ...toBalancer },
    expected: 'drop',
  },
  {
    title: 'no endpoints before source ranges (IPT-10)',
    port: { ...filtered, ...none },
    packet: { ...outsider, ...toBalancer },
    traits: iptables,
    expected: 'reject',
  },
  {
    title: 'node ports elsewhere than allowed (KPX-30)',
    port: external,
    node: { nodePortAddresses: ['10.20.0.11'] },
    packet: { ...toNodePort, destination: '10.244.1.1' },
    expected: 'pass',
  },
  {
    title: 'node ports of others (KPX-31)',
    port: external,
    packet: { ...toNodePort, destination: '10.20.0.12', isToNode: false },
    expected: 'pass',
  },
  { title: 'loopback (NFT-08)', port: external, packet: onLoopback, expected: 'pass' },
  {
    title: 'loopback (IPT-09)',
    port: external,
    packet: onLoopback,
    traits: iptables,
    expected: '= !1.11 !2.13',
  },
  { title: 'an unused port (NFT-06)', packet: { destinationPort: 81 }, expected: 'reject' },
  { title: 'an unused protocol (NFT-06)', packet: { protocol: 'UDP' }, expected: 'reject' },
  {
    title: 'an unused port, iptables',
    packet: { destinationPort: 81 },
    traits: iptables,
    expected: 'pass',
  },
  {
    title: 'an unused address (NFT-06)',
    packet: { destination: '10.96.9.9' },
    expected: 'drop',
  },
  { title: 'somewhere else', packet: { destination: '192.0.2.1' }, expected: 'pass' },
  {
    title: 'a proxy that always shows itself (USR-05)',
    traits: { ...nftables, relayedProtocols: ['TCP'] },
    expected: '= !1.11 !2.13',
  },
];

describe('judgePacket()', () => {
  for (const { title, port, node, packet, traits = nftables, expected } of cases) {
    it(`${title}: ${expected}`, () => {
      const state = exampleState([exampleServicePort(port)], exampleNode(node));
      assert.equal(shown(judgePacket(state, examplePacket(packet), traits)), expected);
    });
  }
  it('prefers an address of a Service to a node port of the same number', () => {
    const other: Endpoint = { ip: '10.244.9.9', port: 1, isLocal: true };
    const state = exampleState([
      exampleServicePort({ name: 'by-node-port', nodePort: 30080, clusterEndpoints: [other] }),
      exampleServicePort({ name: 'by-address', port: 30080, externalIPs: ['10.20.0.11'] }),
    ]);
    assert.equal(shown(judgePacket(state, examplePacket(toNodePort), nftables)), '= !1.11 !2.13');
  });
  it('leaves the other family alone', () => {
    const state = exampleState([exampleServicePort()]);
    const packet = examplePacket({ family: 'IPv6', destination: 'fd00::1' });
    assert.deepEqual(judgePacket(state, packet, nftables), { kind: 'pass' });
  });
});
