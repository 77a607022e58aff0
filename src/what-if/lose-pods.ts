// Takes pods away, and has those made anew whose controllers settle() does not have: it knows Deployments and ReplicaSets.
import type { Pod } from '../kinds/pod/types.ts';
import { type KubeObject, objectKey } from '../meta/object.ts';
import { controllerOf } from '../meta/owner.ts';
import { createdPod } from '../snapshot/settle-workloads.ts';
import { isRead } from '../snapshot/snapshot.ts';
import type { Change } from './change.ts';
import type { Draft, LostPod } from './draft.ts';

export type Loss = {
  readonly how: LostPod['how'];
  readonly by: Change;
  /** Whether a controller makes them anew; absent: it does. */
  readonly forGood?: boolean;
};

export function losePods(draft: Draft, pods: readonly Pod[], loss: Loss): void {
  for (const pod of pods) {
    const key = objectKey(pod.metadata);
    draft.drop('pods', key, loss.by);
    draft.lost.set(key, { pod, how: loss.how });
    if (loss.forGood === true) continue;
    const replacement = replacementOf(draft, pod);
    if (replacement !== undefined) draft.put('pods', replacement);
  }
}

/** Undefined where settle() makes it, or no controller does. */
function replacementOf(draft: Draft, pod: Pod): Pod | undefined {
  const owner = controllerOf(pod);
  const { namespace } = pod.metadata;
  if (owner === undefined || pod.metadata.deletionTimestamp !== undefined) return undefined;
  if (owner.kind === 'Node') return undefined;
  if (owner.kind === 'ReplicaSet' && isRead(draft.snapshot, 'replicaSets', namespace)) {
    return undefined;
  }
  const isOnNode = owner.kind === 'DaemonSet';
  if (isOnNode && draft.get('nodes', pod.spec.nodeName ?? '') === undefined) return undefined;
  draft.assumptions.add(
    `${owner.kind} ${namespace}/${owner.name} is taken to make its pods anew as they were, as ${owner.kind}s cannot be read`,
  );
  return copyOf(draft, pod, { keepsNode: isOnNode, keepsName: owner.kind === 'StatefulSet' });
}

export type CopyOptions = {
  readonly keepsNode: boolean;
  readonly keepsName: boolean;
  /** Of a new pod beside the others. */
  readonly name?: string;
};

/** A new pod of the same controller. */
export function copyOf(
  draft: Draft,
  { apiVersion, kind, metadata, spec }: Pod,
  { keepsNode, keepsName, name }: CopyOptions,
): Pod {
  const { namespace, labels, annotations, ownerReferences } = metadata;
  const { nodeName, ...rest } = spec;
  const owner = controllerOf({ apiVersion, kind, metadata })?.name ?? metadata.name;
  const given = name ?? (keepsName ? metadata.name : undefined);
  const copied: Pod = {
    ...{ apiVersion, kind, status: {} },
    metadata: {
      ...(given === undefined ? { generateName: `${owner}-` } : { name: given }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(ownerReferences === undefined ? {} : { ownerReferences }),
    },
    spec: keepsNode && nodeName !== undefined ? { ...rest, nodeName } : rest,
  };
  return createdPod(draft.names, copied, draft.now);
}

/** By kind and name: workloads that are not read have no uid here. */
export function isControlledBy(
  object: KubeObject,
  { kind, namespace, name }: { kind: string; namespace?: string; name: string },
): boolean {
  if (object.metadata.namespace !== namespace) return false;
  const owner = controllerOf(object);
  return owner?.kind === kind && owner.name === name;
}
