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
  return explainPacket(state, packet, traits).verdict;
}

/** A verdict with its reason. */
export type Judgement = {
  readonly verdict: Verdict;
  readonly why: JudgementReason;
  /** Absent: no port of a Service has the address and port. */
  readonly target?: Target;
  /** How endpoints were chosen; absent where the choice was not reached. */
  readonly route?: Route;
};

export type JudgementReason =
  | 'other-family'
  | 'no-service'
  | 'unused-port-of-cluster-ip'
  | 'unused-port-of-outside-ip'
  | 'unused-service-ip'
  | 'no-endpoints'
  | 'source-ranges'
  | 'no-endpoint-on-node'
  | 'translated';

export function explainPacket(state: ProxyState, packet: Packet, traits: ModeTraits): Judgement {
  if (packet.family !== state.node.family) return { verdict: pass, why: 'other-family' };
  const target = findTarget(state, packet, traits);
  return target === undefined
    ? judgeUnused(state, packet, traits)
    : { target, ...judgeTarget(state.node, target, packet, traits) };
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
function judgeUnused(state: ProxyState, packet: Packet, traits: ModeTraits): Judgement {
  if (packet.isToNode) return { verdict: pass, why: 'no-service' };
  for (const { clusterIP } of state.ports.values()) {
    if (clusterIP === packet.destination) {
      return { verdict: { kind: traits.unusedPortOfClusterIP }, why: 'unused-port-of-cluster-ip' };
    }
  }
  const isOutside = isOutsideIP(state, packet.destination);
  if (isOutside && traits.unusedPortOfOutsideIP !== undefined) {
    return { verdict: { kind: traits.unusedPortOfOutsideIP }, why: 'unused-port-of-outside-ip' };
  }
  if (state.node.serviceCIDRs.some((cidr) => isInRange(packet.destination, cidr))) {
    return { verdict: { kind: traits.unusedServiceIP }, why: 'unused-service-ip' };
  }
  return { verdict: pass, why: isOutside ? 'unused-port-of-outside-ip' : 'no-service' };
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
): Judgement {
  const isAllowed = entrance !== 'load-balancer-ip' || mayUseBalancer(port, packet);
  if (!port.hasEndpoints && (isAllowed || !traits.checksSourceRangesWithoutEndpoints)) {
    return { verdict: reject, why: 'no-endpoints' };
  }
  if (!isAllowed) return { verdict: drop, why: 'source-ranges' };
  const route = routeOf(node, { port, entrance }, packet);
  const endpoints = route.set === 'local' ? port.localEndpoints : port.clusterEndpoints;
  if (endpoints.length === 0) {
    const verdict = traits.noLocalEndpoint === 'drop' ? drop : reject;
    return { verdict, why: 'no-endpoint-on-node', route };
  }
  const destinations = endpoints.map(({ ip, port }) => ({
    ip,
    port,
    isMasqueraded: masqueradeReason(route, ip, packet, traits) !== undefined,
  }));
  const verdict = {
    kind: 'translate',
    destinations: destinations.sort(compareDestinations),
  } as const;
  return { verdict, why: 'translated', route };
}

/** Why the endpoint sees an address of the node as the sender; undefined: it sees the client's. */
export function masqueradeReason(
  { masquerade }: Pick<Route, 'masquerade'>,
  endpointIP: string,
  { protocol, source }: Packet,
  { relayedProtocols }: ModeTraits,
): MasqueradeReason | undefined {
  if (relayedProtocols.includes(protocol)) return 'relayed';
  // An endpoint that reaches itself must not see its own address as the sender (KPX-21).
  return masquerade ?? (endpointIP === source ? 'hairpin' : undefined);
}

/** Source ranges restrict load balancer addresses; the load balancer itself may be allowed as well (KPX-28, KPX-29). */
function mayUseBalancer(port: ServicePort, { source }: Packet): boolean {
  if (port.sourceRanges === undefined) return true;
  if (port.allowsBalancerItself && port.loadBalancerIPs.includes(source)) return true;
  return port.sourceRanges.some((range) => isInRange(source, range));
}

export type MasqueradeReason =
  | 'relayed'
  | 'hairpin'
  /** The proxy is configured to do it always. */
  | 'all'
  /** To a cluster IP, from something else than a pod. */
  | 'not-from-pod'
  /** External traffic under policy Cluster: the answer must come back through this node. */
  | 'external'
  /** External traffic that starts on the node. */
  | 'from-node';

/** Which of the port's endpoints a connection may use, and whether its source becomes the node's address. */
export type Route = {
  readonly set: 'cluster' | 'local';
  /** The policy that counts here, and whether it or the place where the packet starts chose the set. */
  readonly policy: 'internal' | 'external';
  readonly why: 'policy' | 'from-pod' | 'from-node';
  /** Absent: the source stays. */
  readonly masquerade?: MasqueradeReason;
};

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
    ...{ policy: 'internal', why: 'policy' },
    set: port.internalPolicy === 'Local' ? 'local' : 'cluster',
    ...(node.masqueradeAll
      ? { masquerade: 'all' }
      : isFromOutside
        ? { masquerade: 'not-from-pod' }
        : {}),
  };
}

/** KPX-15, KPX-17, KPX-18: policy Local does not restrict traffic of this node and its pods. */
function externalRoute(node: RoutingNode, port: RoutedPort, packet: RoutedPacket): Route {
  const cluster = { policy: 'external', set: 'cluster' } as const;
  if (port.externalPolicy === 'Cluster') {
    return { ...cluster, why: 'policy', masquerade: 'external' };
  }
  if (isFromPod(node.localTraffic, packet)) return { ...cluster, why: 'from-pod' };
  if (packet.isFromNode) return { ...cluster, why: 'from-node', masquerade: 'from-node' };
  return { policy: 'external', set: 'local', why: 'policy' };
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
