// Which ranges nodes have, and which they get. Keeps in mind what was given until the cluster shows it.
import { type Cidr, formatCidr, parseCidr } from '../../ip/cidr.ts';
import type { Node } from '../../kinds/node/types.ts';
import type { NodeIpamSettings } from '../settings.ts';
import { createNodeRanges, type NodeRanges } from './node-ranges.ts';

export type Assignment =
  | { readonly kind: 'none' }
  /** Written, or to be written again: the node shows none yet. */
  | { readonly kind: 'write'; readonly podCIDRs: readonly string[] }
  /** A range is used up. */
  | { readonly kind: 'used-up'; readonly clusterCidr: string }
  /** The node has ranges that are not of the cluster's. */
  | { readonly kind: 'strange'; readonly podCIDRs: readonly string[] };

export type Assigner = {
  readonly ranges: readonly NodeRanges[];
  /** Notes what the node has, or says what it gets. */
  readonly assign: (node: Pick<Node, 'metadata' | 'spec'>) => Assignment;
  /** The node is gone. Returns whether its ranges came back. */
  readonly forget: (name: string) => boolean;
};

export function createAssigner(settings: NodeIpamSettings): Assigner {
  const ranges = settings.clusterCidrs.map((cluster) =>
    createNodeRanges(cluster, settings.maskSizes[cluster.family]),
  );
  for (const service of settings.serviceCidrs) for (const one of ranges) one.hold(service);
  const byNode = new Map<string, readonly Cidr[]>();

  const releaseAll = (given: readonly Cidr[]): void => {
    for (const range of given) for (const one of ranges) one.release(range);
  };
  const forget = (name: string): boolean => {
    const before = byNode.get(name);
    if (before === undefined) return false;
    byNode.delete(name);
    releaseAll(before);
    return true;
  };
  const note = (name: string, podCIDRs: readonly string[]): Assignment => {
    const known = byNode.get(name)?.map(formatCidr);
    if (known?.join() === podCIDRs.join()) return { kind: 'none' };
    forget(name);
    const parsed = podCIDRs.flatMap((text) => parseCidr(text) ?? []);
    byNode.set(name, parsed);
    const isStrange = parsed.filter(
      (range) => !ranges.map((one) => one.hold(range)).includes(true),
    );
    return isStrange.length === 0 ? { kind: 'none' } : { kind: 'strange', podCIDRs };
  };
  const give = (name: string): Assignment => {
    const known = byNode.get(name);
    if (known !== undefined) return { kind: 'write', podCIDRs: known.map(formatCidr) };
    const found = ranges.map((one) => one.take());
    const taken = found.filter((range) => range !== undefined);
    const usedUp = ranges[found.indexOf(undefined)];
    if (usedUp !== undefined) {
      releaseAll(taken);
      return { kind: 'used-up', clusterCidr: formatCidr(usedUp.cluster) };
    }
    byNode.set(name, taken);
    return { kind: 'write', podCIDRs: taken.map(formatCidr) };
  };

  return {
    ranges,
    assign({ metadata, spec }) {
      const { name = '' } = metadata;
      const podCIDRs = spec.podCIDRs ?? (spec.podCIDR ? [spec.podCIDR] : []);
      return podCIDRs.length > 0 ? note(name, podCIDRs) : give(name);
    },
    forget,
  };
}
