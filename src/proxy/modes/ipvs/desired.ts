// What a service port wants: virtual servers at its addresses, the addresses themselves, and its part of the sets.
import type { Element, NftSet, Verdict } from '../../../host/nftables/objects.ts';
import { isLoopback, parseAddress } from '../../../ip/address.ts';
import { isInRange } from '../../../ip/cidr.ts';
import { widestRanges } from '../../../ip/widest-ranges.ts';
import type { Endpoint, NodeState, ServicePort } from '../../model/state.ts';
import { choiceChainName } from './chains.ts';
import type { Entry, Item } from './item.ts';
import {
  clusterIPs,
  droppedServers,
  externalServers,
  firewalledServers,
  hairpinConnections,
  internalServers,
  localServers,
  servers,
  serviceIPs,
  shortCircuitEndpoints,
  shortCircuits,
  sourceRanges,
} from './layout.ts';

/** An address of a Service goes before a node port, also where it is an address of the node. */
const rank = { serviceIP: 0, nodePort: 1 } as const;

export function desiredForPort(
  port: ServicePort,
  node: NodeState,
  scheduler: string,
): readonly Item[] {
  return [
    ...entrancesOf(port, node).map((entrance) => serverItem(entrance, port, scheduler)),
    ...addressItems(port, node),
    ...hairpinItems(port, node),
  ];
}

/** One way to reach a service port. */
type Entrance = {
  readonly ip: string;
  readonly port: number;
  readonly kind: 'cluster-ip' | 'external-ip' | 'load-balancer-ip' | 'node-port';
};

function entrancesOf(port: ServicePort, node: NodeState): readonly Entrance[] {
  const { clusterIP, nodePort } = port;
  const at = (ip: string, kind: Entrance['kind']): Entrance => ({
    ip,
    port: port.port,
    kind,
  });
  const entrances = [
    ...(clusterIP === undefined ? [] : [at(clusterIP, 'cluster-ip')]),
    ...port.loadBalancerIPs.map((ip) => at(ip, 'load-balancer-ip')),
    ...port.externalIPs.map((ip) => at(ip, 'external-ip')),
  ];
  const byIP = new Map(entrances.toReversed().map((entrance) => [entrance.ip, entrance]));
  const nodePorts = nodePort === undefined ? [] : nodePortIPs(node);
  return [
    ...byIP.values(),
    ...nodePorts.map((ip) => ({ ip, port: nodePort ?? 0, kind: 'node-port' as const })),
  ];
}

/** Never loopback: an answer from elsewhere cannot reach a loopback address (IVS-12). */
function nodePortIPs({ nodePortAddresses, nodeIPs }: NodeState): readonly string[] {
  const addresses = nodePortAddresses === 'all' ? nodeIPs : nodePortAddresses;
  return [...new Set(addresses)].filter((ip) => {
    const address = parseAddress(ip);
    return address !== undefined && !isLoopback(address);
  });
}

function serverItem(entrance: Entrance, port: ServicePort, scheduler: string): Item {
  const { protocol } = port;
  const isInternal = entrance.kind === 'cluster-ip';
  const isLocal = (isInternal ? port.internalPolicy : port.externalPolicy) === 'Local';
  const endpoints = isLocal ? port.localEndpoints : port.clusterEndpoints;
  const key = [entrance.ip, protocol.toLowerCase(), entrance.port];
  const inSet = (set: NftSet): Entry => ({ set, element: { key } });
  const shortCircuit = !isInternal && isLocal;
  const kind = isInternal ? internalServers : isLocal ? localServers : externalServers;
  const isDropped = port.hasEndpoints && endpoints.length === 0;
  return {
    key: `server ${key.join(' ')}`,
    rank: entrance.kind === 'node-port' ? rank.nodePort : rank.serviceIP,
    server: {
      service: {
        address: entrance.ip,
        protocol,
        port: entrance.port,
        scheduler,
        ...(port.affinitySeconds === undefined ? {} : { persistenceSeconds: port.affinitySeconds }),
        // As kube-proxy: mh hashes the source port as well (IVS-03).
        ...(scheduler === 'mh' ? { hashesSourcePort: true } : {}),
      },
      realServers: endpoints.map(({ ip, port: to }) => ({ address: ip, port: to })),
    },
    entries: [
      inSet(servers),
      inSet(kind),
      ...(isDropped ? [inSet(droppedServers)] : []),
      ...(shortCircuit ? shortCircuitEntries(key, port) : []),
      ...(entrance.kind === 'load-balancer-ip' ? firewallEntries(key, port) : []),
    ],
    ...(shortCircuit && port.clusterEndpoints.length > 0
      ? { choiceOf: port.clusterEndpoints.length }
      : {}),
  };
}

/** Without any endpoint the virtual server refuses. */
function shortCircuitEntries(key: Element['key'], port: ServicePort): readonly Entry[] {
  if (!port.hasEndpoints) return [];
  const { clusterEndpoints } = port;
  const data: Verdict =
    clusterEndpoints.length === 0
      ? { kind: 'drop' }
      : { kind: 'goto', chain: choiceChainName(clusterEndpoints.length) };
  return [
    { set: shortCircuits, element: { key, data } },
    ...clusterEndpoints.map(({ ip, port: to }, index) => ({
      set: shortCircuitEndpoints,
      element: { key: [...key, index], data: [ip, to] },
    })),
  ];
}

/** Which sources may use the balancer addresses, the balancer itself among them (KPX-28, KPX-29). */
function firewallEntries(key: Element['key'], port: ServicePort): readonly Entry[] {
  if (port.sourceRanges === undefined) return [];
  const itself = port.allowsBalancerItself ? port.loadBalancerIPs : [];
  return [
    { set: firewalledServers, element: { key } },
    ...widestRanges([...port.sourceRanges, ...itself]).map((range) => ({
      set: sourceRanges,
      element: { key: [...key, range] },
    })),
  ];
}

/** Addresses that the node has on another interface are not taken (IVS-01): other things answer there. */
function addressItems(port: ServicePort, { nodeIPs }: NodeState): readonly Item[] {
  const { clusterIP, externalIPs, loadBalancerIPs } = port;
  const inside = clusterIP === undefined ? [] : [clusterIP];
  const all = new Set([...inside, ...externalIPs, ...loadBalancerIPs]);
  return [
    ...[...all]
      .filter((ip) => !nodeIPs.includes(ip))
      .map((ip) => ({
        key: `address ${ip}`,
        rank: 0,
        address: ip,
        entries: [{ set: serviceIPs, element: { key: [ip] } }],
      })),
    ...inside.map((ip) => ({
      key: `cluster-ip ${ip}`,
      rank: 0,
      entries: [{ set: clusterIPs, element: { key: [ip] } }],
    })),
  ];
}

/** Local endpoints that reach themselves through the Service are masqueraded (KPX-21). */
function hairpinItems(port: ServicePort, node: NodeState): readonly Item[] {
  const protocol = port.protocol.toLowerCase();
  return [...port.clusterEndpoints, ...port.localEndpoints]
    .filter((endpoint) => endpoint.isLocal && needsHairpin(endpoint, node))
    .map(({ ip, port: to }) => {
      const key = [ip, ip, protocol, to];
      return {
        key: `hairpin ${key.join(' ')}`,
        rank: 0,
        entries: [{ set: hairpinConnections, element: { key } }],
      };
    });
}

/**
 * An endpoint with the node's own address is like any process of the node: mostly masqueraded as a foreigner. Its connections to
 * itself that do not come through a Service look the same after IPVS, and should stay as they are.
 */
function needsHairpin(
  { ip }: Endpoint,
  { nodeIPs, localTraffic, masqueradeAll }: NodeState,
): boolean {
  if (!nodeIPs.includes(ip)) return true;
  if (masqueradeAll) return false;
  return (
    localTraffic.kind === 'unknown' ||
    (localTraffic.kind === 'cidr' && isInRange(ip, localTraffic.cidr))
  );
}
