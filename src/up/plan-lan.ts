// The addresses of the isolated network: of the LAN with nodes, API server and DNS, and of the pools for load balancers.
import { type Family, formatAddress } from '../ip/address.ts';
import { type Cidr, formatCidr, nthAddress, overlaps, parseCidr } from '../ip/cidr.ts';

export type NodePlan = {
  readonly name: string;
  /** One of each family, the first family first. */
  readonly addresses: readonly string[];
};

export type LanPlan = {
  /** One of each family. */
  readonly ranges: readonly Cidr[];
  /** The LAN's own addresses: of the API server, of DNS, and the source of connections from this machine. */
  readonly gateways: readonly string[];
  readonly nodes: readonly NodePlan[];
  /** The default pool of load balancers, as ranges of the LAN. */
  readonly balancerRanges: readonly string[];
  /** The same for internal load balancers. */
  readonly internalBalancerRanges: readonly string[];
};

export type LanOptions = {
  readonly nodeCount: number;
  /** Absent: the first candidates that this machine does not use. */
  readonly ranges?: readonly Cidr[];
  /** The ranges that this machine has routes to. */
  readonly usedRanges: readonly Cidr[];
  readonly families: readonly Family[];
};

/** Private ranges that few networks use. An overlap would work, because the network is isolated, but would confuse people. */
const candidates: Readonly<Record<Family, readonly string[]>> = {
  IPv4: ['172.30.0.0/16', '172.29.0.0/16', '172.28.0.0/16', '10.230.0.0/16', '192.168.230.0/24'],
  IPv6: ['fd30::/64', 'fd30:1::/64', 'fd30:2::/64'],
};

/** The first address is the LAN's own; nodes follow. */
const gatewayAt = 1n;
const firstNodeAt = 2n;
/** Room for as many nodes as one machine can run, in the smallest range. */
export const maxNodes = 50;

export function planLan({ nodeCount, ranges, usedRanges, families }: LanOptions): LanPlan {
  const lanRanges = (ranges ?? families.map((family) => freeRange(family, usedRanges))).filter(
    ({ family }) => families.includes(family),
  );
  const addressesAt = (position: bigint): readonly string[] =>
    lanRanges.map((range) => formatAddress(nthAddress(range, position)));
  return {
    ranges: lanRanges,
    gateways: addressesAt(gatewayAt),
    nodes: Array.from({ length: nodeCount }, (_, index) => ({
      name: `node-${index + 1}`,
      addresses: addressesAt(firstNodeAt + BigInt(index)),
    })),
    balancerRanges: lanRanges.map((range) => balancerRange(range, 0n)),
    internalBalancerRanges: lanRanges.map((range) => balancerRange(range, 1n)),
  };
}

/** Falls back to the first candidate when all are in use: an overlap works, it only confuses. */
function freeRange(family: Family, usedRanges: readonly Cidr[]): Cidr {
  const all = candidates[family].flatMap((text) => parseCidr(text) ?? []);
  const isFree = (range: Cidr): boolean =>
    !usedRanges.some((other) => other.prefix > 0 && overlaps(other, range));
  const found = all.find(isFree) ?? all[0];
  if (found === undefined) throw new Error(`no candidate range of ${family}`);
  return found;
}

/** 64 addresses from the middle of the range, and 64 after them: far from the nodes at its beginning. */
const balancerBits = 6;

function balancerRange(range: Cidr, addressesAt: bigint): string {
  const bits = range.family === 'IPv4' ? 32 : 128;
  const half = 1n << BigInt(Math.min(bits - range.prefix - 1, 15));
  return formatCidr({
    ...range,
    base: range.base + half + (addressesAt << BigInt(balancerBits)),
    prefix: bits - balancerBits,
  });
}
