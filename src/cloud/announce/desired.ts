// Assigns addresses to nodes. Every node computes the same result from the same objects, without coordination.
import { formatAddress, parseAddressSloppy } from '../../ip/address.ts';
import type { Service } from '../../kinds/service/types.ts';
import { wantsBalancer } from '../service-controller/desired.ts';

export type AnnounceInput = {
  readonly services: Iterable<Service>;
  /** The nodes that may answer: alive, with a ready proxy, and not excluded. */
  readonly nodes: readonly string[];
  /** The nodes with serving endpoints of the Service. */
  readonly nodesWithEndpoints: (service: Service) => ReadonlySet<string>;
  readonly ownClass?: string;
  /** Whether the address belongs to a node, a pod or the API server. */
  readonly isForeign: (address: string) => boolean;
};

export type Answerer = {
  readonly node: string;
  /** The Services with the address. */
  readonly services: readonly Service[];
};

/** By address; without those that no node may answer for. */
export function decideAnswerers(input: AnnounceInput): ReadonlyMap<string, Answerer> {
  const answerers = new Map<string, Answerer>();
  for (const [address, services] of servicesByAddress(input)) {
    const node = chooseNode(address, eligibleNodes(input, services));
    if (node !== undefined) answerers.set(address, { node, services });
  }
  return answerers;
}

function servicesByAddress({
  services,
  ownClass,
  isForeign,
}: AnnounceInput): ReadonlyMap<string, readonly Service[]> {
  const found = new Map<string, Service[]>();
  for (const service of services) {
    if (!wantsBalancer(service, ownClass)) continue;
    for (const address of caughtAddresses(service)) {
      if (isForeign(address)) continue;
      const before = found.get(address);
      if (before === undefined) found.set(address, [service]);
      else before.push(service);
    }
  }
  return found;
}

/** LBC-20 (ipMode): packets do not arrive with an address of mode Proxy as their destination. */
function caughtAddresses({ status }: Service): readonly string[] {
  return (status.loadBalancer?.ingress ?? []).flatMap(({ ip, ipMode = 'VIP' }) => {
    const address = ipMode === 'VIP' && ip !== undefined ? parseAddressSloppy(ip) : undefined;
    return address === undefined ? [] : [formatAddress(address)];
  });
}

/**
 * With policy Local a node without endpoints would drop the traffic. Services that share an address select the same pods, but
 * their endpoints may be observed at different times: prefer a node with endpoints of some of them over none.
 */
function eligibleNodes(
  { nodes, nodesWithEndpoints }: AnnounceInput,
  services: readonly Service[],
): readonly string[] {
  const local = services
    .filter(({ spec }) => spec.externalTrafficPolicy === 'Local')
    .map(nodesWithEndpoints);
  const forAll = nodes.filter((node) => local.every((having) => having.has(node)));
  return forAll.length > 0
    ? forAll
    : nodes.filter((node) => local.some((having) => having.has(node)));
}

/** Rendezvous hashing: addresses spread over nodes, and losing a node moves only its own addresses. */
export function chooseNode(address: string, nodes: readonly string[]): string | undefined {
  let best: string | undefined;
  let highest = -1;
  for (const node of nodes) {
    const score = scoreOf(`${address} ${node}`);
    if (score > highest || (score === highest && best !== undefined && node < best)) {
      highest = score;
      best = node;
    }
  }
  return best;
}

/** FNV-1a, mixed once more because names differ in their last letter only. */
function scoreOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
