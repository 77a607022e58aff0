// What the garbage collector does about one object. Upstream: pkg/controller/garbagecollector.
import { foregroundFinalizer, orphanFinalizer } from '../../meta/finalizers.ts';
import type { KubeObject, OwnerReference } from '../../meta/object.ts';
import { type GraphNode, hasFinalizer, isGoing, ownersOf, waitsForDependents } from './graph.ts';

/** `present` keeps its dependents, `absent` does not, `waiting` wants them gone before it goes itself. */
export type OwnerState = 'present' | 'absent' | 'waiting';

export type DeletionDecision =
  | { readonly action: 'none' }
  /** Release the dependents, then let the object go. */
  | { readonly action: 'orphan'; readonly dependents: readonly GraphNode[] }
  /** Nothing blocks it any more: take the finalizer off. */
  | { readonly action: 'finish' }
  /** Have the dependents looked at: they are to go. */
  | { readonly action: 'cascade'; readonly dependents: readonly GraphNode[] };

/** For an object that has been deleted but is still there. */
export function decideDeletion(
  { object, uid }: GraphNode,
  dependents: readonly GraphNode[],
): DeletionDecision {
  if (!isGoing(object)) return { action: 'none' };
  if (hasFinalizer(object, orphanFinalizer)) return { action: 'orphan', dependents };
  if (!hasFinalizer(object, foregroundFinalizer)) return { action: 'none' };
  const blocks = (dependent: GraphNode): boolean =>
    ownersOf(dependent).some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true);
  if (!dependents.some(blocks)) return { action: 'finish' };
  return {
    action: 'cascade',
    dependents: dependents.filter((dependent) => !isGoing(dependent.object)),
  };
}

export type DependentDecision =
  | { readonly action: 'none' }
  /** Some owners keep it; references to the others are dropped. */
  | { readonly action: 'release'; readonly ownerReferences: readonly OwnerReference[] }
  | {
      readonly action: 'delete';
      readonly policy: 'Orphan' | 'Background' | 'Foreground';
      /** A dependent of it waits for it in turn: references must stop blocking, or neither would ever go. */
      readonly ownerReferences?: readonly OwnerReference[];
    };

/** For an object with owners, once it is known what became of each of them. */
export function decideDependent(
  object: KubeObject,
  stateOf: (owner: OwnerReference) => OwnerState,
  dependents: readonly GraphNode[],
): DependentDecision {
  const owners = object.metadata.ownerReferences ?? [];
  if (owners.length === 0 || isGoing(object)) return { action: 'none' };
  const present = owners.filter((owner) => stateOf(owner) === 'present');
  if (present.length === owners.length) return { action: 'none' };
  if (present.length > 0) return { action: 'release', ownerReferences: present };
  if (owners.some((owner) => stateOf(owner) === 'waiting') && dependents.length > 0) {
    const isCircle = dependents.some((dependent) => waitsForDependents(dependent.object));
    const unblocked = owners.map((owner) => ({ ...owner, blockOwnerDeletion: false }));
    return {
      action: 'delete',
      policy: 'Foreground',
      ...(isCircle ? { ownerReferences: unblocked } : {}),
    };
  }
  return { action: 'delete', policy: policyOf(object) };
}

/** What the object's own finalizers ask for. */
function policyOf(object: KubeObject): 'Orphan' | 'Background' | 'Foreground' {
  if (hasFinalizer(object, orphanFinalizer)) return 'Orphan';
  return hasFinalizer(object, foregroundFinalizer) ? 'Foreground' : 'Background';
}

/** What the graph says of an owner; undefined when only the server can tell. */
export function knownState(
  dependent: GraphNode,
  owner: OwnerReference,
  found: GraphNode | undefined,
): OwnerState | undefined {
  if (found === undefined || !isMeant(dependent, owner, found)) return undefined;
  return waitsForDependents(found.object) ? 'waiting' : 'present';
}

/** A UID alone is not enough: an owner must be where the reference says, in the namespace of the dependent or in none. */
function isMeant(
  dependent: GraphNode,
  owner: OwnerReference,
  { resource, object }: GraphNode,
): boolean {
  if (object.metadata.name !== owner.name || object.kind !== owner.kind) return false;
  return !resource.namespaced || object.metadata.namespace === dependent.object.metadata.namespace;
}
