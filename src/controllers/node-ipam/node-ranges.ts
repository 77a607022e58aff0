// A range of the cluster cut into equal parts, and which node has which. Upstream: pkg/controller/nodeipam/ipam/cidrset.
import { addressBits } from '../../ip/address.ts';
import { type Cidr, containsCidr, overlaps } from '../../ip/cidr.ts';

export type NodeRanges = {
  readonly cluster: Cidr;
  /** How many parts there are. */
  readonly count: number;
  /** A free part, the next after the one given last, so that one that comes back rests; undefined when there is none. */
  readonly take: () => Cidr | undefined;
  /** What some node or service has already; parts that it touches are not given while it is held. False: not of this range. */
  readonly hold: (range: Cidr) => boolean;
  readonly release: (range: Cidr) => void;
  readonly usedCount: () => number;
};

/** `prefix` is that of a part; the cluster's is no longer. */
export function createNodeRanges(cluster: Cidr, prefix: number): NodeRanges {
  const count = 2 ** (prefix - cluster.prefix);
  const shift = BigInt(addressBits(cluster.family) - prefix);
  /** How many hold each part: ranges that somebody wrote by hand may overlap. */
  const holders = new Map<number, number>();
  let next = 0;

  const partsOf = (range: Cidr): { readonly first: number; readonly last: number } => {
    if (containsCidr(range, cluster)) return { first: 0, last: count - 1 };
    const first = Number((range.base - cluster.base) >> shift);
    return { first, last: first + 2 ** Math.max(prefix - range.prefix, 0) - 1 };
  };
  const change = (range: Cidr, by: 1 | -1): boolean => {
    if (range.family !== cluster.family || !overlaps(range, cluster)) return false;
    const { first, last } = partsOf(range);
    for (let part = first; part <= last; part += 1) {
      const held = (holders.get(part) ?? 0) + by;
      if (held > 0) holders.set(part, held);
      else holders.delete(part);
    }
    return true;
  };

  return {
    cluster,
    count,
    take() {
      if (holders.size >= count) return undefined;
      while (holders.has(next)) next = (next + 1) % count;
      const base = cluster.base + (BigInt(next) << shift);
      const range = { family: cluster.family, base, prefix };
      change(range, 1);
      next = (next + 1) % count;
      return range;
    },
    hold: (range) => change(range, 1),
    release: (range) => void change(range, -1),
    usedCount: () => holders.size,
  };
}
