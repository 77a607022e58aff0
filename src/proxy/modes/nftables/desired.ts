// What the table must hold for a service port, and for the node.
import type { Scalar, Verdict } from '../../../host/nftables/objects.ts';
import { isLoopback, parseAddress } from '../../../ip/address.ts';
import { widestRanges } from '../../../ip/widest-ranges.ts';
import type { Endpoint, NodeState, ServicePort } from '../../model/state.ts';
import { type AffinityChains, affinityChains } from './affinity-chains.ts';
import {
  byIP,
  byNodePort,
  type ChainPath,
  type Entrance,
  externalLocalPath,
  externalPath,
  internalPath,
} from './choice-chains.ts';
import type { Entry, Fragment } from './fragment.ts';
import {
  clusterIPs,
  firewallIPs,
  hairpinConnections,
  nodePortIPs,
  sourceRanges,
} from './layout.ts';
import { nodeChains, rejectChain } from './node-chains.ts';
import { goToVerdict } from './rules.ts';

/** The part that does not depend on service ports. */
export function desiredForNode(node: NodeState): Fragment {
  const addresses = node.nodePortAddresses === 'all' ? [] : node.nodePortAddresses;
  return {
    entries: addresses
      .filter((ip) => !isLoopbackText(ip))
      .map((ip) => ({ set: nodePortIPs, element: { key: [ip] } })),
    chains: nodeChains(node),
  };
}

export function desiredForPort(port: ServicePort, node: NodeState): Fragment {
  const { affinitySeconds } = port;
  const affinity =
    affinitySeconds === undefined ? undefined : affinityChains({ ...port, affinitySeconds }, node);
  const served = entrancesOf(port).map((at) => serve({ at, port, node, affinity }));
  return {
    entries: [
      ...served.flatMap(({ entries }) => entries),
      ...(port.clusterIP === undefined
        ? []
        : [{ set: clusterIPs, element: { key: [port.clusterIP] } }]),
      ...hairpinEntries(port),
      ...firewallEntries(port),
    ],
    chains: [...served.flatMap(({ chains }) => chains), ...(affinity?.chains ?? [])],
  };
}

/** One way to reach a service port. */
type PortEntrance = {
  readonly entrance: Entrance;
  readonly kind: 'internal' | 'external';
  readonly key: readonly Scalar[];
};

function entrancesOf(port: ServicePort): readonly PortEntrance[] {
  const protocol = port.protocol.toLowerCase();
  const atIP = (ip: string, kind: PortEntrance['kind']): PortEntrance => ({
    entrance: byIP,
    kind,
    key: [ip, protocol, port.port],
  });
  const outside = new Set([...port.loadBalancerIPs, ...port.externalIPs]);
  return [
    ...(port.clusterIP === undefined ? [] : [atIP(port.clusterIP, 'internal')]),
    ...[...outside].filter((ip) => ip !== port.clusterIP).map((ip) => atIP(ip, 'external')),
    ...(port.nodePort === undefined
      ? []
      : [{ entrance: byNodePort, kind: 'external', key: [protocol, port.nodePort] } as const]),
  ];
}

type EntrancePlan = {
  readonly at: PortEntrance;
  readonly port: ServicePort;
  readonly node: NodeState;
  readonly affinity: AffinityChains | undefined;
};

function serve(plan: EntrancePlan): Pick<Fragment, 'entries' | 'chains'> {
  const { at, port } = plan;
  const { entrance, key } = at;
  const path = plan.affinity === undefined ? chosenPath(plan) : stickyPath(at, plan.affinity);
  return {
    entries: [
      ...(path.target === undefined
        ? []
        : [{ set: entrance.services, element: { key, data: goToVerdict(path.target) } }]),
      ...path.entries,
      ...noEndpointEntries(at, port),
    ],
    chains: path.chains,
  };
}

type ServedPath = Pick<Fragment, 'entries' | 'chains'> & { readonly target?: string };

function stickyPath({ kind }: PortEntrance, affinity: AffinityChains): ServedPath {
  const target = affinity[kind];
  return { entries: [], chains: [], ...(target === undefined ? {} : { target }) };
}

function chosenPath({ at, port, node }: EntrancePlan): ServedPath {
  const { entrance, kind, key } = at;
  const numbered = (set: Entry['set'], endpoints: readonly Endpoint[]): readonly Entry[] =>
    endpoints.map((endpoint, index) => ({
      set,
      element: { key: [...key, index], data: [endpoint.ip, endpoint.port] },
    }));
  const pathTo = (path: ChainPath, entries: readonly Entry[]): ServedPath => ({
    target: path[0].chain.name,
    chains: path,
    entries,
  });
  const [first, second] = endpointsFor(port, kind);
  if (first.length === 0 && (second ?? []).length === 0) return { entries: [], chains: [] };
  const entries = numbered(entrance.endpoints, first);
  if (kind === 'internal') return pathTo(internalPath(node, first.length), entries);
  if (second === undefined) return pathTo(externalPath(node, entrance, first.length), entries);
  const counts = { cluster: first.length, local: second.length };
  return pathTo(externalLocalPath(node, entrance, counts), [
    ...entries,
    ...numbered(entrance.localEndpoints, second),
  ]);
}

/** The endpoints a packet may get. Where policy Local distinguishes senders, those for clients outside come second. */
function endpointsFor(
  port: ServicePort,
  kind: PortEntrance['kind'],
): readonly [readonly Endpoint[], (readonly Endpoint[])?] {
  if (kind === 'internal') {
    return [port.internalPolicy === 'Local' ? port.localEndpoints : port.clusterEndpoints];
  }
  return port.externalPolicy === 'Local'
    ? [port.clusterEndpoints, port.localEndpoints]
    : [port.clusterEndpoints];
}

/** Rejected when there is no endpoint anywhere, dropped when there is none for this packet (KPX-14 to KPX-16). */
function noEndpointEntries(
  { entrance, key, kind }: PortEntrance,
  port: ServicePort,
): readonly Entry[] {
  const isServed = endpointsFor(port, kind).every((endpoints) => (endpoints ?? []).length > 0);
  if (isServed) return [];
  const data: Verdict = port.hasEndpoints ? { kind: 'drop' } : goToVerdict(rejectChain);
  return [{ set: entrance.noEndpoints, element: { key, data } }];
}

function hairpinEntries(port: ServicePort): readonly Entry[] {
  const protocol = port.protocol.toLowerCase();
  const local = [...port.clusterEndpoints, ...port.localEndpoints].filter((one) => one.isLocal);
  const keys = new Map(local.map(({ ip, port: to }) => [`${ip} ${to}`, [ip, ip, protocol, to]]));
  return [...keys.values()].map((key) => ({ set: hairpinConnections, element: { key } }));
}

/** Checked before the destination is translated, with endpoints or without (NFT-07). */
function firewallEntries(port: ServicePort): readonly Entry[] {
  if (port.sourceRanges === undefined) return [];
  const itself = port.allowsBalancerItself ? port.loadBalancerIPs.map(wholeAddress) : [];
  const ranges = widestRanges([...port.sourceRanges, ...itself]);
  return port.loadBalancerIPs.flatMap((ip) => {
    const key = [ip, port.protocol.toLowerCase(), port.port];
    return [
      { set: firewallIPs, element: { key } },
      ...ranges.map((range) => ({ set: sourceRanges, element: { key: [...key, range] } })),
    ];
  });
}

function wholeAddress(ip: string): string {
  return ip.includes(':') ? `${ip}/128` : `${ip}/32`;
}

function isLoopbackText(ip: string): boolean {
  const address = parseAddress(ip);
  return address !== undefined && isLoopback(address);
}
