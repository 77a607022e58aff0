// How many pods to create and which to delete. Upstream: manageReplicas() in pkg/controller/replicaset.
import { isPodFinished } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { PodTemplateSpec } from '../../kinds/pod-template/types.ts';
import { ownerReferenceTo } from '../../meta/owner.ts';
import { rankVictims } from './rank-victims.ts';
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

/** Neither finished nor being deleted. */
export function isActive(pod: Pod): boolean {
  return !isPodFinished(pod) && pod.metadata.deletionTimestamp === undefined;
}

export function isTerminating(pod: Pod): boolean {
  return !isPodFinished(pod) && pod.metadata.deletionTimestamp !== undefined;
}

/** The API server generates the name. */
export function podFromTemplate(owner: ReplicaOwner, template: PodTemplateSpec): Pod {
  const { labels, annotations, finalizers } = template.metadata;
  const { namespace, name = '' } = owner.metadata;
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      ...(namespace === undefined ? {} : { namespace }),
      generateName: `${name}-`,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(finalizers === undefined ? {} : { finalizers }),
      ownerReferences: [ownerReferenceTo(owner)],
    },
    spec: template.spec,
    status: {},
  };
}

/** Sizes of the batches of creations, doubling from 1: a request that always fails, for example for quota, fails few times. */
export function slowStart(count: number): readonly number[] {
  const batches: number[] = [];
  for (let remaining = count, size = 1; remaining > 0; remaining -= size, size *= 2) {
    batches.push(Math.min(remaining, size));
  }
  return batches;
}
