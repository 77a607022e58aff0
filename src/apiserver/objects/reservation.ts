// What must be written in the same transaction as an object: allocated addresses and ports.
import type { AnyKind } from '../../kinds/definition.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { Compare, Write } from '../../storage/store.ts';

/** A write: without `before` a create, without `after` the removal of the object from the store. */
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
 * Decides from the caches; throws ApiError when the request cannot be satisfied. Runs before
 * preparation and validation, as upstream. When one of its comparisons fails at commit, another
 * write was faster: the whole write is retried with a new reservation.
 */
export type Reserve = (change: ObjectChange) => Reservation;
