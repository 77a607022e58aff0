// EndpointSlices that no controller looks after.
import { type EndpointSlice, mirrorManager, sliceManager } from '../kinds/endpoint-slice/types.ts';
import { serviceNameLabel, sliceManagedByLabel } from '../meta/well-known-labels.ts';
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';

const managerOf = ({ metadata }: EndpointSlice): string =>
  metadata.labels?.[sliceManagedByLabel] ?? '';

export const isMirrored = (slice: EndpointSlice): boolean => managerOf(slice) === mirrorManager;

export const isHandMade = (slice: EndpointSlice): boolean =>
  managerOf(slice) !== sliceManager && !isMirrored(slice);

const known = new WeakMap<SnapshotIndex, ReadonlyMap<string, readonly EndpointSlice[]>>();

/** Slices of the namespace that belong to no Service: without the label, or with the name of a Service that is not there. */
export function straySlices(index: SnapshotIndex, namespace: string): readonly EndpointSlice[] {
  const found = known.get(index) ?? strayByNamespace(index);
  known.set(index, found);
  return found.get(namespace) ?? [];
}

function strayByNamespace(index: SnapshotIndex): ReadonlyMap<string, readonly EndpointSlice[]> {
  const stray = new Map<string, EndpointSlice[]>();
  for (const slice of index.snapshot.objects.endpointSlices) {
    const { namespace = '', labels = {} } = slice.metadata;
    const service = labels[serviceNameLabel] ?? '';
    if (service !== '' && index.service(namespace, service) !== undefined) continue;
    const list = stray.get(namespace) ?? [];
    list.push(slice);
    stray.set(namespace, list);
  }
  return stray;
}
