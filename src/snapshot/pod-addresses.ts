// The addresses of pods that are yet to run: the next free ones of their node's ranges.
import { type Family, familyOf, formatAddress } from '../ip/address.ts';
import { addressCount, type Cidr, isInRange, nthAddress, parseCidr } from '../ip/cidr.ts';
import type { Node } from '../kinds/node/types.ts';
import type { Pod } from '../kinds/pod/types.ts';

export type PodAddresses = {
  readonly podIPs: readonly string[];
  readonly hostIPs: readonly string[];
};

export type Neighbourhood = {
  readonly node: Node;
  /** The pods of the node. */
  readonly neighbours: readonly Pod[];
};

/** Where the nodes do not say from which ranges pods get addresses: RFC 2544 and RFC 5180, which no network routes. */
const spareRanges: Readonly<Record<Family, string>> = {
  IPv4: '198.18.0.0/15',
  IPv6: '2001:2::/64',
};
/** The network address, and the node's own in it. */
const firstPodIndex = 2n;

export function createPodAddresses(
  pods: readonly Pod[],
): (pod: Pod, where: Neighbourhood) => PodAddresses {
  const taken = new Set(pods.flatMap(podIPs));
  const next = new Map<string, bigint>();
  const families = familiesOf(pods);
  /** By node: what its pods have in the beginning says where those after them get addresses. */
  const rangesOf = new Map<Node, readonly string[]>();
  const take = (cidr: Cidr, text: string): string | undefined => {
    const count = addressCount(cidr);
    for (let index = next.get(text) ?? firstPodIndex; index < count - 1n; index += 1n) {
      const address = formatAddress(nthAddress(cidr, index));
      if (taken.has(address)) continue;
      taken.add(address);
      next.set(text, index + 1n);
      return address;
    }
    return undefined;
  };
  return (pod, where) => {
    const hostIPs = nodeAddresses(where.node);
    if (pod.spec.hostNetwork === true) return { podIPs: hostIPs, hostIPs };
    const ranges =
      rangesOf.get(where.node) ??
      usedRanges(where) ??
      families.map((family) => spareRanges[family]);
    rangesOf.set(where.node, ranges);
    const podAddresses = ranges.flatMap((text) => {
      const cidr = parseCidr(text);
      return (cidr && take(cidr, text)) ?? [];
    });
    return { podIPs: podAddresses, hostIPs };
  };
}

const podIPs = ({ status }: Pod): readonly string[] => (status.podIPs ?? []).map(({ ip }) => ip);

/** Of the other pods: those of a cluster have the same. */
function familiesOf(pods: readonly Pod[]): readonly Family[] {
  const some = pods.find((pod) => pod.spec.hostNetwork !== true && podIPs(pod).length > 0);
  const families = (some === undefined ? [] : podIPs(some)).flatMap((ip) => familyOf(ip) ?? []);
  return families.length === 0 ? ['IPv4'] : families;
}

/** Undefined where the pods of the node have their addresses from elsewhere, such as a network of the cloud. */
function usedRanges({ node, neighbours }: Neighbourhood): readonly string[] | undefined {
  const ranges = node.spec.podCIDRs ?? (node.spec.podCIDR ? [node.spec.podCIDR] : []);
  const addresses = neighbours.filter(({ spec }) => spec.hostNetwork !== true).flatMap(podIPs);
  const isUsed =
    addresses.length === 0 || addresses.some((ip) => ranges.some((range) => isInRange(ip, range)));
  return ranges.length > 0 && isUsed ? ranges : undefined;
}

function nodeAddresses({ status }: Node): readonly string[] {
  const internal = (status.addresses ?? []).filter(({ type }) => type === 'InternalIP');
  return internal.map(({ address }) => address);
}
