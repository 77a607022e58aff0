// Which pods nobody will ever end properly: those whose node is gone, those deleted before they had one, and the
// oldest of very many that have ended. Upstream: pkg/controller/podgc.
import type { Pod } from '../../kinds/pod/types.ts';

/**
 * A node that is missing may be one that we have not heard of yet. Each pod has this time for itself: upstream counts it
 * for the node, so that a pod made late may go at once with older ones.
 */
const quarantineMs = 40_000;

export type PodGcSituation = {
  readonly pods: readonly Pod[];
  readonly nodes: ReadonlySet<string>;
  /** Since when each pod has named a node that is not there, by the pod's uid. */
  readonly missingSince: ReadonlyMap<string, number>;
  /** Ended pods beyond this number go, the oldest first; 0: none does. */
  readonly maxEnded: number;
  readonly now: number;
};

/** As upstream's metrics say it. */
export type LostReason = 'orphaned' | 'terminated' | 'unscheduled';

export type LostPod = {
  readonly pod: Pod;
  readonly reason: LostReason;
  /** Told in the pod's status, where there is something to tell. */
  readonly message?: string;
};

export type PodGcPlan = {
  /** To be passed in again. */
  readonly missingSince: ReadonlyMap<string, number>;
  /** Nodes that are missing, with the pods that have waited for long enough; the server has the last word on the node. */
  readonly orphaned: ReadonlyMap<string, readonly LostPod[]>;
  readonly others: readonly LostPod[];
};

export function planPodGc(situation: PodGcSituation): PodGcPlan {
  const { pods, nodes, missingSince, maxEnded, now } = situation;
  const since = new Map<string, number>();
  const orphaned = new Map<string, LostPod[]>();
  const unscheduled: LostPod[] = [];
  for (const pod of pods) {
    const { nodeName = '' } = pod.spec;
    if (nodeName === '') {
      if (pod.metadata.deletionTimestamp !== undefined)
        unscheduled.push({ pod, reason: 'unscheduled' });
    } else if (!nodes.has(nodeName)) {
      const { uid = '' } = pod.metadata;
      const first = missingSince.get(uid) ?? now;
      since.set(uid, first);
      if (now - first < quarantineMs) continue;
      const lost = orphaned.get(nodeName) ?? [];
      orphaned.set(nodeName, lost);
      lost.push({ pod, reason: 'orphaned', message: 'PodGC: node no longer exists' });
    }
  }
  return {
    missingSince: since,
    orphaned,
    others: [...unscheduled, ...surplus(pods, maxEnded)],
  };
}

export function hasEnded({ status }: Pod): boolean {
  return status.phase === 'Succeeded' || status.phase === 'Failed';
}

function surplus(pods: readonly Pod[], maxEnded: number): readonly LostPod[] {
  const ended = pods.filter((pod) => hasEnded(pod) && pod.metadata.deletionTimestamp === undefined);
  if (maxEnded <= 0 || ended.length <= maxEnded) return [];
  const made = ({ metadata }: Pod): string => metadata.creationTimestamp ?? '';
  return [...ended]
    .sort((a, b) => (made(a) < made(b) ? -1 : 1))
    .slice(0, ended.length - maxEnded)
    .map((pod) => ({ pod, reason: 'terminated' }));
}
