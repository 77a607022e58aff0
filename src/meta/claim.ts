// Which objects belong to a controller: those it manages, those it takes over, those it lets go.
// Upstream: ClaimObject() in pkg/controller/controller_ref_manager.go.
import { matchesSelector, type Selector } from './labels.ts';
import type { KubeObject } from './object.ts';
import { controllerOf } from './owner.ts';

export type Claims<T> = {
  /** Managed and selected. */
  readonly owned: readonly T[];
  /** Selected, and managed by nobody. */
  readonly adopt: readonly T[];
  /** Managed, but no longer selected. */
  readonly release: readonly T[];
};

/** An owner that is being deleted takes nothing and lets nothing go: what becomes of its objects is for the garbage collector. */
export function claimObjects<T extends KubeObject>(
  owner: KubeObject,
  selector: Selector,
  objects: Iterable<T>,
): Claims<T> {
  const claims = { owned: [] as T[], adopt: [] as T[], release: [] as T[] };
  for (const object of objects) {
    const place = claimOf(owner, selector, object);
    if (place !== undefined) claims[place].push(object);
  }
  return claims;
}

function claimOf(
  owner: KubeObject,
  selector: Selector,
  object: KubeObject,
): keyof Claims<unknown> | undefined {
  const controller = controllerOf(object);
  const isGoing = owner.metadata.deletionTimestamp !== undefined;
  const isSelected = matchesSelector(selector, object.metadata.labels);
  if (controller !== undefined) {
    if (controller.uid !== owner.metadata.uid) return undefined;
    if (isSelected) return 'owned';
    return isGoing ? undefined : 'release';
  }
  const isFree =
    !isGoing &&
    object.metadata.deletionTimestamp === undefined &&
    object.metadata.namespace === owner.metadata.namespace;
  return isFree && isSelected ? 'adopt' : undefined;
}
