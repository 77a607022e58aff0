// Divides a cluster range into equal node ranges and keeps track of those in use. Upstream:
// pkg/controller/nodeipam/ipam/cidrset.
import { addressBits } from '../../ip/address.ts';
import { type Cidr, containsCidr, overlaps } from '../../ip/cidr.ts';

export type NodeRanges = {
  readonly cluster: Cidr;
  /** Number of node ranges. */
  readonly size: number;
  /** The next free range after the last allocated one, so that released ranges are reused late; undefined when none is free. */
  readonly allocate: () => Cidr | undefined;
  /** Marks the node ranges that overlap this one as in use. False when it is outside of the cluster range. */
  readonly occupy: (range: Cidr) => boolean;
  readonly release: (range: Cidr) => void;
  readonly usedCount: () => number;
};

/** `prefix` is that of a node range, at least as long as the cluster's. */
export function createNodeRanges(cluster: Cidr, prefix: number): NodeRanges {
  const size = 2 ** (prefix - cluster.prefix);
  const shift = BigInt(addressBits(cluster.family) - prefix);
  /** Number of users of each node range: ranges that were set by hand may overlap. */
  const users = new Map<number, number>();
  let next = 0;

  const partsOf = (range: Cidr): { readonly first: number; readonly last: number } => {
    if (containsCidr(range, cluster)) return { first: 0, last: size - 1 };
    const first = Number((range.base - cluster.base) >> shift);
    return { first, last: first + 2 ** Math.max(prefix - range.prefix, 0) - 1 };
  };
  const change = (range: Cidr, by: 1 | -1): boolean => {
    if (range.family !== cluster.family || !overlaps(range, cluster)) return false;
    const { first, last } = partsOf(range);
    for (let part = first; part <= last; part += 1) {
      const count = (users.get(part) ?? 0) + by;
      if (count > 0) users.set(part, count);
      else users.delete(part);
    }
    return true;
  };

  return {
    cluster,
    size,
    allocate() {
      if (users.size >= size) return undefined;
      while (users.has(next)) next = (next + 1) % size;
      const base = cluster.base + (BigInt(next) << shift);
      const range = { family: cluster.family, base, prefix };
      change(range, 1);
      next = (next + 1) % size;
      return range;
    },
    occupy: (range) => change(range, 1),
    release: (range) => void change(range, -1),
    usedCount: () => users.size,
  };
}
