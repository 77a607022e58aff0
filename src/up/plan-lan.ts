// Which addresses the isolated network has: the lan, where nodes, the API server and DNS meet, and what is given out there.
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
  /** The lan's own addresses: API server, DNS, and where connections from this machine come from. */
  readonly gateways: readonly string[];
  readonly nodes: readonly NodePlan[];
  /** What load balancers may have, as ranges of the lan. */
  readonly balancerRanges: readonly string[];
  /** The same for those that only the network itself is to reach. */
  readonly internalBalancerRanges: readonly string[];
};

export type LanOptions = {
  readonly nodeCount: number;
  /** Absent: ranges that this machine does not use. */
  readonly ranges?: readonly Cidr[];
  /** What this machine has routes to. */
  readonly taken: readonly Cidr[];
  readonly families: readonly Family[];
};

/** Private ranges that few networks use; nothing inside meets the outside, but people read these addresses. */
const candidates: Readonly<Record<Family, readonly string[]>> = {
  IPv4: ['172.30.0.0/16', '172.29.0.0/16', '172.28.0.0/16', '10.230.0.0/16', '192.168.230.0/24'],
  IPv6: ['fd30::/64', 'fd30:1::/64', 'fd30:2::/64'],
};

/** The first address is the lan's own; nodes follow. */
const gatewayAt = 1n;
const firstNodeAt = 2n;
/** Room for as many nodes as one machine can run, in the smallest range. */
export const maxNodes = 50;

export function planLan({ nodeCount, ranges, taken, families }: LanOptions): LanPlan {
  const chosen = (ranges ?? families.map((family) => freeRange(family, taken))).filter(
    ({ family }) => families.includes(family),
  );
  const at = (position: bigint): readonly string[] =>
    chosen.map((range) => formatAddress(nthAddress(range, position)));
  return {
    ranges: chosen,
    gateways: at(gatewayAt),
    nodes: Array.from({ length: nodeCount }, (_, index) => ({
      name: `node-${index + 1}`,
      addresses: at(firstNodeAt + BigInt(index)),
    })),
    balancerRanges: chosen.map((range) => balancerRange(range, 0n)),
    internalBalancerRanges: chosen.map((range) => balancerRange(range, 1n)),
  };
}

/** The last resort is the first choice: a range that is in use outside works inside, it only confuses. */
function freeRange(family: Family, taken: readonly Cidr[]): Cidr {
  const all = candidates[family].flatMap((text) => parseCidr(text) ?? []);
  const isFree = (range: Cidr): boolean =>
    !taken.some((other) => other.prefix > 0 && overlaps(other, range));
  const found = all.find(isFree) ?? all[0];
  if (found === undefined) throw new Error(`no range of ${family} is known`);
  return found;
}

/** 64 addresses in the middle and 64 after them: far from the nodes at the beginning. */
const balancerBits = 6;

function balancerRange(range: Cidr, at: bigint): string {
  const bits = range.family === 'IPv4' ? 32 : 128;
  const half = 1n << BigInt(Math.min(bits - range.prefix - 1, 15));
  return formatCidr({
    ...range,
    base: range.base + half + (at << BigInt(balancerBits)),
    prefix: bits - balancerBits,
  });
}
