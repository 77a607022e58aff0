// Counts what a sync changes in the slices of a Service.
import { portSetKey } from './port-set.ts';
import { endpointIdentity, isUnchanged } from './same-endpoint.ts';
import type { Endpoint, EndpointSlice } from './types.ts';

export type SliceChanges = {
  readonly create: readonly EndpointSlice[];
  readonly update: readonly EndpointSlice[];
  readonly delete: readonly EndpointSlice[];
};

export type ChangeCounts = {
  /** Endpoints that were added. */
  readonly added: number;
  /** Endpoints that were changed. */
  readonly updated: number;
  /** Endpoints that were removed. */
  readonly removed: number;
  /** Slices written or deleted. */
  readonly changedSlices: number;
  /** After the sync. */
  readonly endpoints: number;
  readonly slices: number;
  /** Number of slices if all were full. */
  readonly minSlices: number;
};

export function countChanges(
  existing: readonly EndpointSlice[],
  changes: SliceChanges,
  maxPerSlice: number,
): ChangeCounts {
  const { create, update, delete: deleted } = changes;
  const touched = new Set([...update, ...deleted].map(({ metadata }) => metadata.uid));
  const replaced = existing.filter(({ metadata }) => touched.has(metadata.uid));
  const untouched = existing.filter(({ metadata }) => !touched.has(metadata.uid));
  const before = byIdentity(replaced);
  const after = byIdentity([...create, ...update]);
  const slices = [...untouched, ...update, ...create];
  return {
    added: countMissing(after, before),
    updated: countChanged(before, after),
    removed: countMissing(before, after),
    changedSlices: create.length + update.length + deleted.length,
    endpoints: slices.reduce((sum, slice) => sum + sizeOf(slice), 0),
    slices: slices.length,
    minSlices: minSliceCount(slices, maxPerSlice),
  };
}

const sizeOf = ({ endpoints }: EndpointSlice): number => endpoints?.length ?? 0;

type ByIdentity = ReadonlyMap<string, Endpoint>;

function byIdentity(slices: readonly EndpointSlice[]): ByIdentity {
  const all = slices.flatMap(({ endpoints }) => endpoints ?? []);
  return new Map(all.map((endpoint) => [endpointIdentity(endpoint), endpoint]));
}

function countMissing(of: ByIdentity, from: ByIdentity): number {
  let count = 0;
  for (const one of of.keys()) if (!from.has(one)) count += 1;
  return count;
}

function countChanged(previous: ByIdentity, after: ByIdentity): number {
  let count = 0;
  for (const [identity, old] of previous) {
    const now = after.get(identity);
    if (now !== undefined && !isUnchanged(old, now)) count += 1;
  }
  return count;
}

function minSliceCount(slices: readonly EndpointSlice[], maxPerSlice: number): number {
  const sizes = new Map<string, number>();
  for (const slice of slices) {
    const group = `${slice.addressType} ${portSetKey(slice.ports)}`;
    sizes.set(group, (sizes.get(group) ?? 0) + sizeOf(slice));
  }
  return [...sizes.values()].reduce((sum, n) => sum + Math.max(1, Math.ceil(n / maxPerSlice)), 0);
}
