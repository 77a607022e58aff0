// How many pods to make and which to delete, so that there are as many as wanted.
// Upstream: manageReplicas() in pkg/controller/replicaset.
import { isPodFinished } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { PodTemplateSpec } from '../../kinds/pod-template/types.ts';
import { ownerReferenceTo } from '../../meta/owner.ts';
import { rankVictims } from './rank-victims.ts';
import type { ReplicaOwner } from './replica-owner.ts';

export type ReplicaPlan = { readonly create: number; readonly delete: readonly Pod[] };

/** At most so many pods are made or deleted at a time; the rest follows when these are done. */
const burst = 500;

export type ReplicaSituation = {
  readonly owner: ReplicaOwner;
  /** Its pods that still count. */
  readonly pods: readonly Pod[];
  /** All active pods of the same purpose: of one deployment, whatever their replica set. */
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

/** A pod that has not ended and is not about to. */
export function isActive(pod: Pod): boolean {
  return !isPodFinished(pod) && pod.metadata.deletionTimestamp === undefined;
}

export function isTerminating(pod: Pod): boolean {
  return !isPodFinished(pod) && pod.metadata.deletionTimestamp !== undefined;
}

/** The pod that the template describes; the server gives it its name. */
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

/** Sizes of the batches in which so many pods are made: small at first, so that what fails always fails few times. */
export function slowStart(count: number): readonly number[] {
  const batches: number[] = [];
  for (let left = count, size = 1; left > 0; left -= size, size *= 2) {
    batches.push(Math.min(left, size));
  }
  return batches;
}
