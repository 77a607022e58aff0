// Who lives: announcers renew a Lease each, and who has not seen it renewed for its time takes its owner for dead. Times are those
// of the watching node's clock; the clocks of others are not believed.
import type { Lease } from '../../kinds/lease/types.ts';

export const announcerLabel = 'fairlead.dev/announcer';
export const leaseNamespace = 'kube-system';
export const leaseName = (nodeName: string): string => `fairlead-announcer-${nodeName}`;

type Seen = { readonly renewal: string; readonly at: number; readonly lastsMs: number };

export type LeaseObserver = {
  readonly heard: (lease: Lease, now: number) => void;
  readonly gone: (lease: Lease) => void;
  /** Nodes that live, in no particular order. */
  readonly living: (now: number) => readonly string[];
  /** When the last renewal of a node was seen. */
  readonly seenAt: (node: string) => number | undefined;
  /** When the next of those who live would count as dead. */
  readonly nextDeath: (now: number) => number | undefined;
};

export function createLeaseObserver(): LeaseObserver {
  const seen = new Map<string, Seen>();
  const endOf = ({ at, lastsMs }: Seen): number => at + lastsMs;
  return {
    heard({ spec }, now) {
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
