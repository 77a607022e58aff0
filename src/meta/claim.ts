// Classifies objects for a controller: owned, to adopt, to release. Upstream: ClaimObject() in
// pkg/controller/controller_ref_manager.go.
import { matchesSelector, type Selector } from './labels.ts';
import type { KubeObject } from './object.ts';
import { controllerOf } from './owner.ts';

export type Claims<T> = {
  /** Controlled and selected. */
  readonly owned: readonly T[];
  /** Selected and without a controller. */
  readonly adopt: readonly T[];
  /** Controlled and no longer selected. */
  readonly release: readonly T[];
};

/** An owner that is being deleted adopts and releases nothing: its objects are left to the garbage collector. */
export function claimObjects<T extends KubeObject>(
  owner: KubeObject,
  selector: Selector,
  objects: Iterable<T>,
): Claims<T> {
  return claimMembers(owner, ({ metadata }) => matchesSelector(selector, metadata.labels), objects);
}

/** The same with another rule than a selector. */
export function claimMembers<T extends KubeObject>(
  owner: KubeObject,
  isMember: (object: T) => boolean,
  objects: Iterable<T>,
): Claims<T> {
  const claims = { owned: [] as T[], adopt: [] as T[], release: [] as T[] };
  for (const object of objects) {
    const claim = claimOf(owner, object, isMember(object));
    if (claim !== undefined) claims[claim].push(object);
  }
  return claims;
}

function claimOf(
  owner: KubeObject,
  object: KubeObject,
  isSelected: boolean,
): keyof Claims<unknown> | undefined {
  const controller = controllerOf(object);
  const isBeingDeleted = owner.metadata.deletionTimestamp !== undefined;
  if (controller !== undefined) {
    if (controller.uid !== owner.metadata.uid) return undefined;
    if (isSelected) return 'owned';
    return isBeingDeleted ? undefined : 'release';
  }
  const isAdoptable =
    !isBeingDeleted &&
    object.metadata.deletionTimestamp === undefined &&
    object.metadata.namespace === owner.metadata.namespace;
  return isAdoptable && isSelected ? 'adopt' : undefined;
}
