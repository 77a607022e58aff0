// The first packet of a connection at the nodes whose rules it meets: what the reference model says, with its reasons.
import { isLoopback, parseAddress } from '../ip/address.ts';
import type { Service } from '../kinds/service/types.ts';
import { zoneLabel } from '../meta/well-known-labels.ts';
import type { Family, Protocol } from '../proxy/model/state.ts';
import type { Packet } from '../proxy/packets/packet.ts';
import { explainPacket, type Judgement } from '../proxy/packets/reference-model.ts';
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';
import { isAddressOf, type NodeRules, nodeAt, nodeRules, type RulesOptions } from './node-rules.ts';
import { freeAddress, nodeAddressesOf, type Source } from './resolve-source.ts';

export type Destination = {
  readonly address: string;
  readonly family: Family;
  readonly port: number;
  readonly protocol: Protocol;
};

/** What happens at one node, which stands for others like it. */
export type JudgedConnection = {
  readonly judgement: Judgement;
  readonly packet: Packet;
  readonly rules: NodeRules;
  /** The node whose rules decide. */
  readonly node: string;
  /** The nodes that it stands for: where the connection starts, or arrives from outside. */
  readonly nodes: readonly string[];
};

export type JudgeOptions = RulesOptions & { readonly source: Source };

export function judgeConnection(
  index: SnapshotIndex,
  destination: Destination,
  options: JudgeOptions,
): readonly JudgedConnection[] {
  const services = servicesOf(index, destination);
  const atNode = nodeAt(index, destination.address);
  const starts =
    options.source.kind === 'outside' && atNode !== undefined ? [atNode] : options.source.nodes;
  return nodesAlike(index, starts, { services, address: destination.address }).map((nodes) =>
    judgeFrom(index, { nodes, destination, services }, options),
  );
}

/** In groups of those that are alike to the deciding code. */
export function nodesAlike(
  index: SnapshotIndex,
  names: readonly string[],
  grouping: Grouping,
): readonly (readonly string[])[] {
  const { services } = grouping;
  const named = namedNodes(index, services);
  const classes = new Map<string, string[]>();
  for (const name of names) {
    const key = classOf(index, name, { ...grouping, named });
    const like = classes.get(key);
    if (like === undefined) classes.set(key, [name]);
    else like.push(name);
  }
  return [...classes.values()];
}

/** Services that have the address, or the port as a port of nodes. */
function servicesOf(
  index: SnapshotIndex,
  { address, port }: Pick<Destination, 'address' | 'port'>,
): readonly Service[] {
  const named = index.servicesAt(address);
  const parsed = parseAddress(address);
  const isNode =
    nodeAt(index, address) !== undefined || (parsed !== undefined && isLoopback(parsed));
  if (!isNode) return named;
  const onPort = index.snapshot.objects.services.filter(
    ({ spec }) =>
      spec.healthCheckNodePort === port ||
      (spec.ports ?? []).some(({ nodePort }) => nodePort === port),
  );
  return [...new Set([...named, ...onPort])];
}

type Grouping = {
  readonly services: readonly Service[];
  /** To which connections go. */
  readonly address: string;
};

/** Nodes that hints name, and under policy Local those that endpoints are on. Otherwise it does not matter where an endpoint is. */
function namedNodes(index: SnapshotIndex, services: readonly Service[]): ReadonlySet<string> {
  return new Set(
    services.flatMap(({ metadata: { namespace = '', name = '' }, spec }) => {
      const isLocal =
        spec.internalTrafficPolicy === 'Local' || spec.externalTrafficPolicy === 'Local';
      return index
        .slicesOf(namespace, name)
        .flatMap(({ endpoints }) => endpoints ?? [])
        .flatMap(({ nodeName, hints }) => [
          ...(isLocal && nodeName ? [nodeName] : []),
          ...(hints?.forNodes ?? []).map((one) => one.name),
        ]);
    }),
  );
}

/** Nodes of one class are alike to the deciding code: in zone, in endpoints, in hints, and in what the address is to them. */
function classOf(
  index: SnapshotIndex,
  name: string,
  { named, address }: Grouping & { readonly named: ReadonlySet<string> },
): string {
  const zone = index.node(name)?.metadata.labels?.[zoneLabel] ?? '';
  const isOwn = isAddressOf(index, name, address);
  return JSON.stringify([zone, named.has(name) ? name : '', isOwn]);
}

type From = {
  readonly nodes: readonly string[];
  readonly destination: Destination;
  readonly services: readonly Service[];
};

function judgeFrom(
  index: SnapshotIndex,
  { nodes, destination, services }: From,
  options: JudgeOptions,
): JudgedConnection {
  const [first = ''] = nodes;
  const { family } = destination;
  const at = (nodeName: string, isFromNode: boolean): JudgedConnection => {
    const rules = nodeRules(index, { nodeName, family, services }, options);
    const packet = packetAt(index, nodeName, { destination, options, first, services, isFromNode });
    return {
      judgement: explainPacket(rules.state, packet, options.mode.traits),
      ...{ packet, rules, node: nodeName, nodes },
    };
  };
  const { source } = options;
  const here = at(first, source.kind !== 'outside' && source.isOnHost);
  if (here.judgement.verdict.kind !== 'pass' || here.packet.isToNode) return here;
  const next = nodeAt(index, destination.address);
  // The rules of its own node let it through; those of the node that has the address come next.
  return next === undefined || next === first ? here : at(next, false);
}

type PacketRequest = {
  readonly destination: Destination;
  readonly services: readonly Service[];
  readonly options: JudgeOptions;
  /** Where it starts. */
  readonly first: string;
  readonly isFromNode: boolean;
};

function packetAt(index: SnapshotIndex, nodeName: string, request: PacketRequest): Packet {
  const { destination, isFromNode } = request;
  const { address, family, port, protocol } = destination;
  return {
    ...{ family, protocol, isFromNode },
    origin: isFromNode ? 'local' : 'forwarded',
    source: sourceAddress(index, request),
    destination: address,
    destinationPort: port,
    isToNode: isAddressOf(index, nodeName, address),
  };
}

/** For clients that stand for any: documentation ranges, which no cluster has. */
const someClient = { IPv4: '203.0.113.1', IPv6: '2001:db8::1' } as const;

function sourceAddress(
  index: SnapshotIndex,
  { destination: { address, family }, services, options, first, isFromNode }: PacketRequest,
): string {
  const { source, settings } = options;
  const parsed = parseAddress(address);
  if (isFromNode && parsed !== undefined && isLoopback(parsed)) return address;
  const known = ofFamily(source.addresses, family);
  if (known !== undefined) return known;
  const node = index.node(first);
  if (isFromNode) {
    return (node && ofFamily(nodeAddressesOf(node), family)) ?? someClient[family];
  }
  if (source.kind === 'outside') return allowedClient(services, family) ?? someClient[family];
  const ranges = node?.spec.podCIDRs ?? (node?.spec.podCIDR ? [node.spec.podCIDR] : []);
  const range = [...ranges, ...settings.podRanges.value].find(
    (one) => one.includes(':') === (family === 'IPv6'),
  );
  return freeAddress(range, endpointAddresses(index, services)) ?? someClient[family];
}

/** For a client that stands for any, one that source ranges let in: the policy hop says that there are others. */
function allowedClient(services: readonly Service[], family: Family): string | undefined {
  const ranges = services.flatMap(({ spec }) => spec.loadBalancerSourceRanges ?? []);
  const range = ranges.find((one) => one.includes(':') === (family === 'IPv6'));
  return range?.split('/')[0];
}

function endpointAddresses(
  index: SnapshotIndex,
  services: readonly Service[],
): ReadonlySet<string> {
  return new Set(
    services.flatMap(({ metadata: { namespace = '', name = '' } }) =>
      index
        .slicesOf(namespace, name)
        .flatMap(({ endpoints }) => (endpoints ?? []).flatMap(({ addresses }) => addresses ?? [])),
    ),
  );
}

function ofFamily(addresses: readonly string[], family: Family): string | undefined {
  return addresses.find((one) => one.includes(':') === (family === 'IPv6'));
}
