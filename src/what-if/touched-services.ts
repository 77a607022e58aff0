// The Services that a change touches: only these are compared.
import { type KubeObject, objectKey } from '../meta/object.ts';
import { serviceNameLabel, zoneLabel } from '../meta/well-known-labels.ts';
import { bothSides, changedObjects } from '../snapshot/changed-objects.ts';
import type { SnapshotObjects } from '../snapshot/snapshot.ts';

/** By `namespace/name`, in this order. */
export function touchedServices(
  before: SnapshotObjects,
  after: SnapshotObjects,
): readonly string[] {
  const keys = new Set([
    ...bothSides(changedObjects(before.services, after.services)).map(keyOf),
    ...bothSides(changedObjects(before.endpointSlices, after.endpointSlices)).map(serviceOf),
  ]);
  if (mayMoveClients(before, after)) {
    // Hints and policies compare endpoints with nodes: any Service may differ.
    for (const service of after.services) keys.add(keyOf(service));
  }
  keys.delete('');
  return [...keys].sort();
}

/** Whether a node that stays has moved to another zone, or has other addresses. */
function mayMoveClients(before: SnapshotObjects, after: SnapshotObjects): boolean {
  return changedObjects(before.nodes, after.nodes).some(
    ({ before: was, after: is }) =>
      was !== undefined &&
      is !== undefined &&
      (was.metadata.labels?.[zoneLabel] !== is.metadata.labels?.[zoneLabel] ||
        JSON.stringify(was.status.addresses) !== JSON.stringify(is.status.addresses)),
  );
}

const keyOf = ({ metadata }: KubeObject): string => objectKey(metadata);

function serviceOf({ metadata }: KubeObject): string {
  const service = metadata.labels?.[serviceNameLabel] ?? '';
  return service === '' ? '' : `${metadata.namespace ?? ''}/${service}`;
}
