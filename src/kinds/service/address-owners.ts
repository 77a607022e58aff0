// Who owns an address, so that no Service captures it by naming it as an external IP or in its balancer's status
// (CVE-2020-8554). kube-proxy captures whatever is named; this is where we differ on purpose. Proxies, announcers and relays
// all ask here, and nobody says in which field the address was named: there is one rule for all of them.
import { type Family, formatAddress, parseAddressSloppy } from '../../ip/address.ts';
import { type Cidr, containsAddress, parseCidr } from '../../ip/cidr.ts';
import { addressesOfFamily, rangesOfFamily } from '../../ip/family-address.ts';
import type { Node } from '../node/types.ts';

/** Plain data: compared as text. */
export type AddressOwners = {
  /** Ranges that cluster IPs come from. */
  readonly serviceRanges: readonly string[];
  /** Ranges that pods have their addresses from. */
  readonly podRanges: readonly string[];
  /** By address: the name of the node, this one with all that its interfaces have. */
  readonly nodes: readonly (readonly [string, string])[];
};

export const noOwners: AddressOwners = { serviceRanges: [], podRanges: [], nodes: [] };

export type OwnerFacts = {
  readonly family: Family;
  readonly nodeName: string;
  readonly nodes: Iterable<Pick<Node, 'metadata' | 'spec' | 'status'>>;
  readonly interfaceAddresses: readonly string[];
  readonly serviceRanges: readonly string[];
  /** As configured for the whole cluster. */
  readonly clusterCIDRs: readonly string[];
};

export function makeOwners(facts: OwnerFacts): AddressOwners {
  const { family, nodeName } = facts;
  const podRanges: string[] = [...facts.clusterCIDRs];
  const nodes = new Map<string, string>(
    addressesOfFamily(facts.interfaceAddresses, family).map((ip) => [ip, nodeName]),
  );
  for (const { metadata, spec, status } of facts.nodes) {
    for (const range of [spec.podCIDR ?? '', ...(spec.podCIDRs ?? [])]) podRanges.push(range);
    const ips = (status.addresses ?? []).filter(({ type }) => type.endsWith('IP'));
    for (const ip of addressesOfFamily(
      ips.map(({ address }) => address),
      family,
    ))
      nodes.set(ip, metadata.name ?? '');
  }
  return {
    serviceRanges: facts.serviceRanges,
    podRanges: [...rangesOfFamily(podRanges, family)].sort(),
    nodes: [...nodes].sort(([a], [b]) => (a < b ? -1 : 1)),
  };
}

/** Why a Service does not get the address; undefined: nobody else owns it. */
export type OwnerLookup = (ip: string) => string | undefined;

export function createOwnerLookup(
  owners: AddressOwners,
  endpointOwner: (ip: string) => string | undefined,
): OwnerLookup {
  const serviceRanges = parsed(owners.serviceRanges);
  const podRanges = parsed(owners.podRanges);
  const nodes = new Map(owners.nodes);
  return (text) => {
    // However it is spelled: the API keeps old objects as they were written.
    const address = parseAddressSloppy(text);
    if (address === undefined) return undefined;
    const range = serviceRanges.find((one) => containsAddress(one.cidr, address));
    if (range !== undefined) return `it lies in the range ${range.text} of cluster IPs`;
    const ip = formatAddress(address);
    // A node may have an address of its own in the range of its pods.
    const node = nodes.get(ip);
    if (node !== undefined) return `it is an address of node ${node}`;
    const pods = podRanges.find((one) => containsAddress(one.cidr, address));
    if (pods !== undefined) return `it lies in the range ${pods.text} of pods`;
    return endpointOwner(ip);
  };
}

/** The Service whose endpoints are the API servers. */
export const apiServerKey = 'default/kubernetes';
export const apiServerOwns = 'it is an address of the API server';

type Range = { readonly text: string; readonly cidr: Cidr };

function parsed(texts: readonly string[]): readonly Range[] {
  return texts.flatMap((text) => {
    const cidr = parseCidr(text);
    return cidr === undefined ? [] : [{ text, cidr }];
  });
}
