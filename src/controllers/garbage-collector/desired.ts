// What the garbage collector does about one object. Upstream: pkg/controller/garbagecollector.
import { foregroundFinalizer, orphanFinalizer } from '../../meta/finalizers.ts';
import type { KubeObject, OwnerReference } from '../../meta/object.ts';
import {
  type GraphNode,
  hasFinalizer,
  isBeingDeleted,
  ownersOf,
  waitsForDependents,
} from './graph.ts';

/** State of an owner: `waiting` means deleted in the foreground, waiting for its dependents. */
export type OwnerState = 'present' | 'absent' | 'waiting';

export type DeletionDecision =
  | { readonly action: 'none' }
  /** Orphan the dependents, then remove the finalizer. */
  | { readonly action: 'orphan'; readonly dependents: readonly GraphNode[] }
  /** No dependent blocks it: remove the finalizer. */
  | { readonly action: 'finish' }
  /** Attempt to delete the dependents. */
  | { readonly action: 'cascade'; readonly dependents: readonly GraphNode[] };

/** For an object that is being deleted. */
export function decideDeletion(
  { object, uid }: GraphNode,
  dependents: readonly GraphNode[],
): DeletionDecision {
  if (!isBeingDeleted(object)) return { action: 'none' };
  if (hasFinalizer(object, orphanFinalizer)) return { action: 'orphan', dependents };
  if (!hasFinalizer(object, foregroundFinalizer)) return { action: 'none' };
  const blocks = (dependent: GraphNode): boolean =>
    ownersOf(dependent).some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true);
  if (!dependents.some(blocks)) return { action: 'finish' };
  return {
    action: 'cascade',
    dependents: dependents.filter((dependent) => !isBeingDeleted(dependent.object)),
  };
}

export type DependentDecision =
  | { readonly action: 'none' }
  /** An owner is present; references to absent or waiting ones are removed. */
  | { readonly action: 'release'; readonly ownerReferences: readonly OwnerReference[] }
  | {
      readonly action: 'delete';
      readonly policy: 'Orphan' | 'Background' | 'Foreground';
      /** A dependent waits for it in turn: its references stop blocking, otherwise both would wait forever. */
      readonly ownerReferences?: readonly OwnerReference[];
    };

/** For an object with owners, once the state of each owner is known. */
export function decideDependent(
  object: KubeObject,
  stateOf: (owner: OwnerReference) => OwnerState,
  dependents: readonly GraphNode[],
): DependentDecision {
  const owners = object.metadata.ownerReferences ?? [];
  if (owners.length === 0 || isBeingDeleted(object)) return { action: 'none' };
  const present = owners.filter((owner) => stateOf(owner) === 'present');
  if (present.length === owners.length) return { action: 'none' };
  if (present.length > 0) return { action: 'release', ownerReferences: present };
  if (owners.some((owner) => stateOf(owner) === 'waiting') && dependents.length > 0) {
    const isCycle = dependents.some((dependent) => waitsForDependents(dependent.object));
    const unblocked = owners.map((owner) => ({ ...owner, blockOwnerDeletion: false }));
    return {
      action: 'delete',
      policy: 'Foreground',
      ...(isCycle ? { ownerReferences: unblocked } : {}),
    };
  }
  return { action: 'delete', policy: policyOf(object) };
}

/** The propagation policy that the object's own finalizers ask for. */
function policyOf(object: KubeObject): 'Orphan' | 'Background' | 'Foreground' {
  if (hasFinalizer(object, orphanFinalizer)) return 'Orphan';
  return hasFinalizer(object, foregroundFinalizer) ? 'Foreground' : 'Background';
}

/** The state of an owner according to the graph; undefined when only the server knows. */
export function knownState(
  dependent: GraphNode,
  owner: OwnerReference,
  found: GraphNode | undefined,
): OwnerState | undefined {
  if (found === undefined || !isReferenced(dependent, owner, found)) return undefined;
  return waitsForDependents(found.object) ? 'waiting' : 'present';
}

/** The UID alone is not enough: the owner must be in the dependent's namespace or cluster-scoped. */
function isReferenced(
  dependent: GraphNode,
  owner: OwnerReference,
  { resource, object }: GraphNode,
): boolean {
  if (object.metadata.name !== owner.name || object.kind !== owner.kind) return false;
  return !resource.namespaced || object.metadata.namespace === dependent.object.metadata.namespace;
}
