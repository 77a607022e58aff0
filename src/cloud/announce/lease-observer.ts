// Which nodes are alive: each announcer renews a Lease, and a node whose Lease was not observed to be renewed for its duration is dead.
// Times are of the observer's clock; clocks of other nodes are not trusted.
import type { Lease } from '../../kinds/lease/types.ts';

export const announcerLabel = 'fairlead.dev/announcer';
export const leaseNamespace = 'kube-system';
export const leaseName = (nodeName: string): string => `fairlead-announcer-${nodeName}`;

type Seen = { readonly renewal: string; readonly at: number; readonly lastsMs: number };

export type LeaseObserver = {
  readonly observed: (lease: Lease, now: number) => void;
  readonly gone: (lease: Lease) => void;
  /** The live nodes, in no particular order. */
  readonly living: (now: number) => readonly string[];
  /** When the last renewal of a node was observed. */
  readonly seenAt: (node: string) => number | undefined;
  /** When the next lease of a live node expires. */
  readonly nextDeath: (now: number) => number | undefined;
};

export function createLeaseObserver(): LeaseObserver {
  const seen = new Map<string, Seen>();
  const endOf = ({ at, lastsMs }: Seen): number => at + lastsMs;
  return {
    observed({ spec }, now) {
      const { holderIdentity = '', renewTime = '', leaseDurationSeconds = 1 } = spec;
      if (holderIdentity === '') return;
      if (seen.get(holderIdentity)?.renewal === renewTime) return;
      const lastsMs = leaseDurationSeconds * 1000;
      seen.set(holderIdentity, { renewal: renewTime, at: now, lastsMs });
    },
    gone: ({ spec }) => void seen.delete(spec.holderIdentity ?? ''),
    living: (now) => [...seen].filter(([, one]) => endOf(one) > now).map(([node]) => node),
    seenAt: (node) => seen.get(node)?.at,
    nextDeath(now) {
      const ends = [...seen.values()].map(endOf).filter((end) => end > now);
      return ends.length === 0 ? undefined : Math.min(...ends);
    },
  };
}
