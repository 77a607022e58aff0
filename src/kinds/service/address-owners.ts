// Who owns an address, so that no Service can capture it as an external IP or in its load balancer status
// (CVE-2020-8554). kube-proxy programs any address; we differ on purpose. Proxies, announcers and relays all use this
// rule, whichever field the address is in.
import { type Family, formatAddress, parseAddressSloppy } from '../../ip/address.ts';
import { type Cidr, containsAddress, parseCidr } from '../../ip/cidr.ts';
import { addressesOfFamily, rangesOfFamily } from '../../ip/family-address.ts';
import { mayBeMetadataService } from '../../ip/metadata-service.ts';
import type { Node } from '../node/types.ts';

/** Plain data: compared as text. */
export type AddressOwners = {
  /** Service ranges. */
  readonly serviceRanges: readonly string[];
  /** Pod ranges. */
  readonly podRanges: readonly string[];
  /** Node names by address; the own node has all addresses of its interfaces. */
  readonly nodes: readonly (readonly [string, string])[];
};

export const noOwners: AddressOwners = { serviceRanges: [], podRanges: [], nodes: [] };

export type OwnerFacts = {
  readonly family: Family;
  readonly nodeName: string;
  readonly nodes: Iterable<Pick<Node, 'metadata' | 'spec' | 'status'>>;
  readonly interfaceAddresses: readonly string[];
  readonly serviceRanges: readonly string[];
  /** From the cluster's configuration. */
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

/** Why a Service must not use the address; undefined: no one else owns it. */
export type OwnerLookup = (ip: string) => string | undefined;

export function createOwnerLookup(
  owners: AddressOwners,
  endpointOwner: (ip: string) => string | undefined,
): OwnerLookup {
  return (text) => {
    // In any spelling: stored objects keep theirs.
    const address = parseAddressSloppy(text);
    if (address === undefined) return undefined;
    // The validation of external IPs refuses link-local addresses; that of a status does not.
    if (mayBeMetadataService(address)) return 'it may be the metadata service of a cloud';
    const { serviceRanges, podRanges, nodes } = parsedOwners(owners);
    const range = serviceRanges.find((one) => containsAddress(one.cidr, address));
    if (range !== undefined) return `it lies in the range ${range.text} of cluster IPs`;
    const ip = formatAddress(address);
    // A node may have an address inside its pod range.
    const node = nodes.get(ip);
    if (node !== undefined) return `it is an address of node ${node}`;
    const pods = podRanges.find((one) => containsAddress(one.cidr, address));
    if (pods !== undefined) return `it lies in the range ${pods.text} of pods`;
    return endpointOwner(ip);
  };
}

/** The key of the Service of the API servers. */
export const apiServerKey = 'default/kubernetes';
export const apiServerOwns = 'it is an address of the API server';

type ParsedOwners = {
  readonly serviceRanges: readonly Range[];
  readonly podRanges: readonly Range[];
  readonly nodes: ReadonlyMap<string, string>;
};

/** Parsed when the first Service names an address, which most do not. */
const knownOwners = new WeakMap<AddressOwners, ParsedOwners>();

function parsedOwners(owners: AddressOwners): ParsedOwners {
  const known = knownOwners.get(owners);
  if (known !== undefined) return known;
  const { serviceRanges, podRanges, nodes } = owners;
  const made = {
    serviceRanges: parsed(serviceRanges),
    podRanges: parsed(podRanges),
    nodes: new Map(nodes),
  };
  knownOwners.set(owners, made);
  return made;
}

type Range = { readonly text: string; readonly cidr: Cidr };

function parsed(texts: readonly string[]): readonly Range[] {
  return texts.flatMap((text) => {
    const cidr = parseCidr(text);
    return cidr === undefined ? [] : [{ text, cidr }];
  });
}
