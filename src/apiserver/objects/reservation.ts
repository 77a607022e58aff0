// What must be written in the same transaction as an object: addresses, ports, and what goes with it.
import type { AnyKind } from '../../kinds/definition.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { Compare, Write } from '../../storage/store.ts';

/** A write about to happen: no `before` is a create, no `after` is the removal of the object from the store. */
export type ObjectChange = {
  readonly definition: AnyKind;
  readonly before?: KubeObject;
  readonly after?: KubeObject;
  readonly dryRun: boolean;
};

export type Reservation = {
  /** The object with what was reserved filled in; absent for a removal. */
  readonly object?: KubeObject;
  readonly compare: readonly Compare[];
  readonly write: readonly Write[];
};

/**
 * Decides from what the caches hold now; throws ApiError when the wish cannot be granted. Runs before
 * preparation and validation, as upstream's does. When one of its comparisons fails at commit, somebody
 * else was faster: the whole write is tried again with a new reservation.
 */
export type Reserve = (change: ObjectChange) => Reservation;
