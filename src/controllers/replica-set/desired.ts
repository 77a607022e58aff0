// How many pods to create and which to delete. Upstream: manageReplicas() in pkg/controller/replicaset.
import { rankVictims } from '../../kinds/pod/rank-victims.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { ReplicaOwner } from './replica-owner.ts';

export type ReplicaPlan = { readonly create: number; readonly delete: readonly Pod[] };

/** Upstream's burstReplicas: the limit of creations or deletions in one sync. */
const burst = 500;

export type ReplicaSituation = {
  readonly owner: ReplicaOwner;
  /** Its active pods. */
  readonly pods: readonly Pod[];
  /** Active pods of all replica sets of the same deployment. */
  readonly related: readonly Pod[];
  readonly now: number;
};

export function planReplicas({ owner, pods, related, now }: ReplicaSituation): ReplicaPlan {
  const missing = (owner.spec.replicas ?? 1) - pods.length;
  if (owner.metadata.deletionTimestamp !== undefined || missing === 0)
    return { create: 0, delete: [] };
  if (missing > 0) return { create: Math.min(missing, burst), delete: [] };
  const count = Math.min(-missing, burst);
  if (count === pods.length) return { create: 0, delete: pods };
  const perNode = countPerNode(related);
  const ranked = pods.map((pod) => ({
    pod,
    companions: perNode.get(pod.spec.nodeName ?? '') ?? 0,
  }));
  return { create: 0, delete: rankVictims(ranked, now).slice(0, count) };
}

function countPerNode(pods: readonly Pod[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { spec } of pods) {
    const node = spec.nodeName ?? '';
    counts.set(node, (counts.get(node) ?? 0) + 1);
  }
  return counts;
}
