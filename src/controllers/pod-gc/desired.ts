// Pods that no kubelet will ever terminate: those of deleted nodes, those deleted before they were scheduled, and the
// oldest of too many finished ones. Upstream: pkg/controller/podgc.
import { isPodFinished } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';

/**
 * The informer of nodes may lag behind that of pods. The period counts for each pod; upstream counts it for each node,
 * so that a new pod may be deleted together with older ones.
 */
const quarantineMs = 40_000;

export type PodGcSituation = {
  readonly pods: readonly Pod[];
  readonly nodes: ReadonlySet<string>;
  /** Since when each pod, by UID, has had a node that does not exist. */
  readonly missingSince: ReadonlyMap<string, number>;
  /** Finished pods beyond this number are deleted, oldest first; 0: no limit. */
  readonly maxFinished: number;
  readonly now: number;
};

/** Label values of upstream's metrics. */
export type LostReason = 'orphaned' | 'terminated' | 'unscheduled';

export type LostPod = {
  readonly pod: Pod;
  readonly reason: LostReason;
  /** For the pod's status; absent when the status is left alone. */
  readonly message?: string;
};

export type PodGcPlan = {
  /** Pass it to the next call. */
  readonly missingSince: ReadonlyMap<string, number>;
  /** Pods by missing node whose quarantine is over; read the node from the server before deleting them. */
  readonly orphaned: ReadonlyMap<string, readonly LostPod[]>;
  readonly others: readonly LostPod[];
};

export function planPodGc(situation: PodGcSituation): PodGcPlan {
  const { pods, nodes, missingSince, maxFinished, now } = situation;
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
    others: [...unscheduled, ...surplus(pods, maxFinished)],
  };
}

function surplus(pods: readonly Pod[], maxEnded: number): readonly LostPod[] {
  const finished = pods.filter(
    (pod) => isPodFinished(pod) && pod.metadata.deletionTimestamp === undefined,
  );
  if (maxEnded <= 0 || finished.length <= maxEnded) return [];
  const createdAt = ({ metadata }: Pod): string => metadata.creationTimestamp ?? '';
  return [...finished]
    .sort((a, b) => (createdAt(a) < createdAt(b) ? -1 : 1))
    .slice(0, finished.length - maxEnded)
    .map((pod) => ({ pod, reason: 'terminated' }));
}
