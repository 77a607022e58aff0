// Allocates pod ranges to nodes. Remembers allocations until the node object shows them.
import { type Cidr, formatCidr, parseCidr } from '../../ip/cidr.ts';
import type { Node } from '../../kinds/node/types.ts';
import type { NodeIpamSettings } from '../settings.ts';
import { createNodeRanges, type NodeRanges } from './node-ranges.ts';

export type Assignment =
  | { readonly kind: 'none' }
  /** Newly allocated, or allocated before and not on the node yet. */
  | { readonly kind: 'write'; readonly podCIDRs: readonly string[] }
  /** A cluster range is exhausted. */
  | { readonly kind: 'exhausted'; readonly clusterCidr: string }
  /** The node has ranges outside of the cluster ranges. */
  | { readonly kind: 'outside'; readonly podCIDRs: readonly string[] };

export type Assigner = {
  readonly ranges: readonly NodeRanges[];
  /** Occupies the ranges that the node has, or allocates new ones. */
  readonly assign: (node: Pick<Node, 'metadata' | 'spec'>) => Assignment;
  /** The node was deleted. Returns whether it had ranges. */
  readonly forget: (name: string) => boolean;
};

export function createAssigner(settings: NodeIpamSettings): Assigner {
  const ranges = settings.clusterCidrs.map((cluster) =>
    createNodeRanges(cluster, settings.maskSizes[cluster.family]),
  );
  for (const service of settings.serviceCidrs) for (const one of ranges) one.occupy(service);
  const byNode = new Map<string, readonly Cidr[]>();

  const releaseAll = (allocated: readonly Cidr[]): void => {
    for (const range of allocated) for (const one of ranges) one.release(range);
  };
  const forget = (name: string): boolean => {
    const before = byNode.get(name);
    if (before === undefined) return false;
    byNode.delete(name);
    releaseAll(before);
    return true;
  };
  const occupy = (name: string, podCIDRs: readonly string[]): Assignment => {
    const known = byNode.get(name)?.map(formatCidr);
    if (known?.join() === podCIDRs.join()) return { kind: 'none' };
    forget(name);
    const parsed = podCIDRs.flatMap((text) => parseCidr(text) ?? []);
    byNode.set(name, parsed);
    const outside = parsed.filter(
      (range) => !ranges.map((one) => one.occupy(range)).includes(true),
    );
    return outside.length === 0 ? { kind: 'none' } : { kind: 'outside', podCIDRs };
  };
  const allocate = (name: string): Assignment => {
    const known = byNode.get(name);
    if (known !== undefined) return { kind: 'write', podCIDRs: known.map(formatCidr) };
    const found = ranges.map((one) => one.allocate());
    const allocated = found.filter((range) => range !== undefined);
    const exhausted = ranges[found.indexOf(undefined)];
    if (exhausted !== undefined) {
      releaseAll(allocated);
      return { kind: 'exhausted', clusterCidr: formatCidr(exhausted.cluster) };
    }
    byNode.set(name, allocated);
    return { kind: 'write', podCIDRs: allocated.map(formatCidr) };
  };

  return {
    ranges,
    assign({ metadata, spec }) {
      const { name = '' } = metadata;
      const podCIDRs = spec.podCIDRs ?? (spec.podCIDR ? [spec.podCIDR] : []);
      return podCIDRs.length > 0 ? occupy(name, podCIDRs) : allocate(name);
    },
    forget,
  };
}
