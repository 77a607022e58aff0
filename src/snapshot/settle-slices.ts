// The Endpoints and EndpointSlices of a Service, as the three controllers of endpoints leave them.

import { diffSlices } from '../controllers/endpoint-slice/diff.ts';
import type { ZoneShares } from '../controllers/endpoint-slice/zone-shares.ts';
import { desiredMirror, shouldMirror } from '../controllers/endpoint-slice-mirroring/desired.ts';
import { diffMirror } from '../controllers/endpoint-slice-mirroring/diff.ts';
import { desiredEndpoints } from '../controllers/endpoints/desired.ts';
import { diffEndpoints } from '../controllers/endpoints/diff.ts';
import { defaultSettings } from '../controllers/settings.ts';
import type { SliceChanges } from '../kinds/endpoint-slice/count-changes.ts';
import { type EndpointSlice, mirrorManager, sliceManager } from '../kinds/endpoint-slice/types.ts';
import type { Endpoints } from '../kinds/endpoints/types.ts';
import type { Node } from '../kinds/node/types.ts';
import type { Pod } from '../kinds/pod/types.ts';
import { hasSelectedPods } from '../kinds/service/backends.ts';
import type { Service } from '../kinds/service/types.ts';
import { objectKey } from '../meta/object.ts';
import { serviceNameLabel, sliceManagedByLabel } from '../meta/well-known-labels.ts';
import { identified, type NameMaker } from './made-names.ts';
import type { ObjectTable, ValuesOf } from './object-table.ts';

export type EndpointTables = {
  readonly now: number;
  readonly names: NameMaker;
  readonly endpoints: ObjectTable<Endpoints>;
  /** By sliceValues. */
  readonly slices: ObjectTable<EndpointSlice>;
  readonly node: (name: string) => Node | undefined;
  readonly zones: ZoneShares | undefined;
  readonly selectPods: (service: Service) => readonly Pod[];
};

/** The slices of a Service that one controller manages. */
const managedBy = (manager: string, service: string): string => `${manager} ${service}`;

export const sliceValues: ValuesOf<EndpointSlice> = ({ metadata }) => {
  const { [serviceNameLabel]: service, [sliceManagedByLabel]: manager } = metadata.labels ?? {};
  return service && manager ? [managedBy(manager, `${metadata.namespace ?? ''}/${service}`)] : [];
};

export function settleEndpoints(tables: EndpointTables, service: Service): void {
  const key = objectKey(service.metadata);
  if (hasSelectedPods(service)) {
    const pods = tables.selectPods(service);
    settleOwnEndpoints(tables, service, pods);
    const existing = tables.slices.select(managedBy(sliceManager, key));
    const { node, zones } = tables;
    const changes = diffSlices({
      ...{ service, pods, node, zones, existing },
      spreadBefore: new Map(),
      maxPerSlice: defaultSettings.maxEndpointsPerSlice,
    });
    applySlices(tables, changes);
  }
  settleMirror(tables, service);
}

/** The garbage collector and the controllers leave nothing of a deleted Service; Endpoints without an owner are deleted as well. */
export function removeEndpoints({ endpoints, slices }: EndpointTables, key: string): void {
  endpoints.remove(key);
  for (const manager of [sliceManager, mirrorManager]) {
    for (const { metadata } of slices.select(managedBy(manager, key)))
      slices.remove(objectKey(metadata));
  }
}

function settleOwnEndpoints(
  { endpoints, names, now }: EndpointTables,
  service: Service,
  pods: readonly Pod[],
): void {
  const current = endpoints.get(objectKey(service.metadata));
  const change = diffEndpoints({ service, desired: desiredEndpoints(service, pods), current });
  if (change.action === 'none') return;
  endpoints.put(
    change.action === 'create' ? identified(names, change.endpoints, now) : change.endpoints,
  );
}

function settleMirror(tables: EndpointTables, service: Service): void {
  const key = objectKey(service.metadata);
  const object = tables.endpoints.get(key);
  const existing = tables.slices
    .select(managedBy(mirrorManager, key))
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (object !== undefined && shouldMirror(object, service)) {
    const { mirroringMaxEndpointsPerSubset: maxPerSubset } = defaultSettings;
    applySlices(tables, diffMirror(object, desiredMirror(object, maxPerSubset), existing));
  } else applySlices(tables, { create: [], update: [], delete: existing });
}

function applySlices({ slices, names, now }: EndpointTables, changes: SliceChanges): void {
  for (const { metadata } of changes.delete) slices.remove(objectKey(metadata));
  for (const slice of changes.update) slices.put(slice);
  for (const slice of changes.create) slices.put(identified(names, slice, now));
}
