// The reference model: what must happen to a packet, by the state and the mode's traits alone. Every mode is tested against it.
import { compareAddresses, isLoopback, parseAddress } from '../../ip/address.ts';
import { isInRange } from '../../ip/cidr.ts';
import type { LocalTraffic, NodeState, ProxyState, ServicePort } from '../model/state.ts';
import type { ModeTraits } from '../modes/mode.ts';
import type { Destination, Packet, Verdict } from './packet.ts';

export type Entrance = 'cluster-ip' | 'external-ip' | 'load-balancer-ip' | 'node-port';

/** The service port that a packet is for, and through which of its addresses. */
export type Target = { readonly port: ServicePort; readonly entrance: Entrance };

const pass: Verdict = { kind: 'pass' };
const drop: Verdict = { kind: 'drop' };
const reject: Verdict = { kind: 'reject' };

export function judgePacket(state: ProxyState, packet: Packet, traits: ModeTraits): Verdict {
  if (packet.family !== state.node.family) return pass;
  const target = findTarget(state, packet, traits);
  return target === undefined
    ? judgeUnused(state, packet, traits)
    : judgeTarget(state.node, target, packet, traits);
}

function findTarget(
  state: ProxyState,
  packet: Packet,
  traits: Pick<ModeTraits, 'nodePortOnLoopback'>,
): Target | undefined {
  let onNodePort: Target | undefined;
  const answersNodePorts = isNodePortAddress(state.node, packet, traits);
  for (const port of state.ports.values()) {
    if (port.protocol !== packet.protocol) continue;
    const entrance = port.port === packet.destinationPort ? entranceAt(port, packet) : undefined;
    // An address of a Service takes precedence over a node port, also if it is an address of the node.
    if (entrance !== undefined) return { port, entrance };
    if (answersNodePorts && port.nodePort === packet.destinationPort) {
      onNodePort = { port, entrance: 'node-port' };
    }
  }
  return onNodePort;
}

function entranceAt(port: ServicePort, { destination }: Packet): Entrance | undefined {
  if (port.clusterIP === destination) return 'cluster-ip';
  if (port.loadBalancerIPs.includes(destination)) return 'load-balancer-ip';
  return port.externalIPs.includes(destination) ? 'external-ip' : undefined;
}

/** Node ports never answer on ::1, which cannot be routed, and on 127.0.0.0/8 only where the mode can (IPT-09, NFT-08). */
function isNodePortAddress(
  { nodePortAddresses }: NodeState,
  { destination, isToNode, family }: Packet,
  { nodePortOnLoopback }: Pick<ModeTraits, 'nodePortOnLoopback'>,
): boolean {
  if (!isToNode) return false;
  if (nodePortAddresses !== 'all' && !nodePortAddresses.includes(destination)) return false;
  const address = parseAddress(destination);
  if (address === undefined) return false;
  return !isLoopback(address) || (nodePortOnLoopback && family === 'IPv4');
}

/** An unused port of a Service's address, or an unused address of a service range (NFT-06). */
function judgeUnused(state: ProxyState, packet: Packet, traits: ModeTraits): Verdict {
  if (packet.isToNode) return pass;
  for (const { clusterIP } of state.ports.values()) {
    if (clusterIP === packet.destination) return { kind: traits.unusedPortOfClusterIP };
  }
  if (traits.unusedPortOfOutsideIP !== undefined && isOutsideIP(state, packet.destination)) {
    return { kind: traits.unusedPortOfOutsideIP };
  }
  return state.node.serviceCIDRs.some((cidr) => isInRange(packet.destination, cidr))
    ? { kind: traits.unusedServiceIP }
    : pass;
}

function isOutsideIP({ ports }: ProxyState, ip: string): boolean {
  return [...ports.values()].some(
    ({ externalIPs, loadBalancerIPs }) => externalIPs.includes(ip) || loadBalancerIPs.includes(ip),
  );
}

function judgeTarget(
  node: NodeState,
  { port, entrance }: Target,
  packet: Packet,
  traits: ModeTraits,
): Verdict {
  const isAllowed = entrance !== 'load-balancer-ip' || mayUseBalancer(port, packet);
  if (!port.hasEndpoints) {
    return isAllowed || !traits.checksSourceRangesWithoutEndpoints ? reject : drop;
  }
  if (!isAllowed) return drop;
  const { set, isMasqueraded } = routeOf(node, { port, entrance }, packet);
  const endpoints = set === 'local' ? port.localEndpoints : port.clusterEndpoints;
  if (endpoints.length === 0) return traits.noLocalEndpoint === 'drop' ? drop : reject;
  const isRelayed = traits.relayedProtocols.includes(packet.protocol);
  const destinations = endpoints.map(({ ip, port }) => ({
    ip,
    port,
    // An endpoint that reaches itself must not see its own address as the sender (KPX-21).
    isMasqueraded: isMasqueraded || isRelayed || ip === packet.source,
  }));
  return { kind: 'translate', destinations: destinations.sort(compareDestinations) };
}

/** Source ranges restrict load balancer addresses; the load balancer itself may be allowed as well (KPX-28, KPX-29). */
function mayUseBalancer(port: ServicePort, { source }: Packet): boolean {
  if (port.sourceRanges === undefined) return true;
  if (port.allowsBalancerItself && port.loadBalancerIPs.includes(source)) return true;
  return port.sourceRanges.some((range) => isInRange(source, range));
}

/** Which of the port's endpoints a connection may use, and whether its source becomes the node's address. */
export type Route = { readonly set: 'cluster' | 'local'; readonly isMasqueraded: boolean };

type RoutedPort = Pick<ServicePort, 'internalPolicy' | 'externalPolicy'>;
type RoutedPacket = Pick<Packet, 'source' | 'inputInterface' | 'isFromNode'>;
type RoutingNode = Pick<NodeState, 'localTraffic' | 'masqueradeAll'>;

export function routeOf(
  node: RoutingNode,
  { port, entrance }: { readonly port: RoutedPort; readonly entrance: Entrance },
  packet: RoutedPacket,
): Route {
  return entrance === 'cluster-ip'
    ? internalRoute(node, port, packet)
    : externalRoute(node, port, packet);
}

/** To a cluster IP: the internal policy chooses the endpoints, and only pods keep their address (KPX-14, KPX-19, KPX-20). */
function internalRoute(node: RoutingNode, port: RoutedPort, packet: RoutedPacket): Route {
  const isFromOutside =
    node.localTraffic.kind !== 'unknown' && !isFromPod(node.localTraffic, packet);
  return {
    set: port.internalPolicy === 'Local' ? 'local' : 'cluster',
    isMasqueraded: node.masqueradeAll || isFromOutside,
  };
}

/** KPX-15, KPX-17, KPX-18: policy Local does not restrict traffic of this node and its pods. */
function externalRoute(node: RoutingNode, port: RoutedPort, packet: RoutedPacket): Route {
  if (port.externalPolicy === 'Cluster') return { set: 'cluster', isMasqueraded: true };
  if (isFromPod(node.localTraffic, packet)) return { set: 'cluster', isMasqueraded: false };
  if (packet.isFromNode) return { set: 'cluster', isMasqueraded: true };
  return { set: 'local', isMasqueraded: false };
}

/** By range or by interface; without configuration nothing counts as from a pod (KPX-22). */
function isFromPod(local: LocalTraffic, { source, inputInterface }: RoutedPacket): boolean {
  switch (local.kind) {
    case 'unknown':
      return false;
    case 'cidr':
      return isInRange(source, local.cidr);
    case 'interface':
      return inputInterface === local.name;
    case 'interface-prefix':
      return inputInterface?.startsWith(local.prefix) ?? false;
  }
}

export function compareDestinations(a: Destination, b: Destination): number {
  const left = parseAddress(a.ip);
  const right = parseAddress(b.ip);
  const byAddress = left && right ? compareAddresses(left, right) : 0;
  return byAddress === 0 ? a.port - b.port : byAddress;
}
