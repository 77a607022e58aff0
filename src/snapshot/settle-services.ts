// Settles the endpoints of the Services that a change touches.
import { wantsSpread } from '../controllers/endpoint-slice/topology-hints.ts';
import { zoneShares } from '../controllers/endpoint-slice/zone-shares.ts';
import type { Pod } from '../kinds/pod/types.ts';
import { isSameBackend } from '../kinds/service/backends.ts';
import { type KubeObject, objectKey } from '../meta/object.ts';
import { serviceNameLabel } from '../meta/well-known-labels.ts';
import { bothSides, changedObjects } from './changed-objects.ts';
import { indexSnapshot, type SnapshotIndex } from './index-snapshot.ts';
import { type EndpointTables, removeEndpoints, settleEndpoints } from './settle-slices.ts';
import { makeSnapshot, type SnapshotObjects } from './snapshot.ts';

export type ServiceChange = {
  readonly objects: SnapshotObjects;
  readonly since: SnapshotObjects;
};

export function settleServices(
  tables: Pick<EndpointTables, 'now' | 'names' | 'endpoints' | 'slices'>,
  { objects, since }: ServiceChange,
): void {
  const index = indexSnapshot(makeSnapshot({ objects }));
  const { keys, deleted } = touchedServices(index, since);
  const all: EndpointTables = {
    ...tables,
    node: index.node,
    zones: zoneShares(objects.nodes),
    selectPods: ({ metadata, spec }) =>
      index.podsWith(metadata.namespace ?? '', spec.selector ?? {}),
  };
  for (const key of deleted) removeEndpoints(all, key);
  for (const service of objects.services) {
    if (keys.has(objectKey(service.metadata))) settleEndpoints(all, service);
  }
}

type Touched = { readonly keys: ReadonlySet<string>; readonly deleted: readonly string[] };

function touchedServices(index: SnapshotIndex, since: SnapshotObjects): Touched {
  const { objects } = index.snapshot;
  const changed = changedObjects(since.services, objects.services);
  const keys = new Set([
    ...changed.flatMap(({ after }) => (after === undefined ? [] : objectKey(after.metadata))),
    ...bothSides(changedObjects(since.endpoints, objects.endpoints)).map(keyOf),
    ...bothSides(changedObjects(since.endpointSlices, objects.endpointSlices)).map(serviceOf),
    ...[...podsThatMatter(objects, since)].flatMap((pod) => servicesOf(index, pod)),
    ...(changedObjects(since.nodes, objects.nodes).length === 0
      ? []
      : objects.services.filter(wantsSpread).map(keyOf)),
  ]);
  const deleted = changed.flatMap(({ before, after }) =>
    after === undefined && before !== undefined ? objectKey(before.metadata) : [],
  );
  return { keys, deleted };
}

/** Pods whose endpoints may differ: of themselves, or because the zone of their node does. */
function podsThatMatter(objects: SnapshotObjects, since: SnapshotObjects): ReadonlySet<Pod> {
  const changes = changedObjects(since.pods, objects.pods).filter(
    ({ before, after }) =>
      before === undefined || after === undefined || !isSameBackend(before, after),
  );
  const nodes = new Set(
    bothSides(changedObjects(since.nodes, objects.nodes)).map(({ metadata }) => metadata.name),
  );
  const moved = nodes.size === 0 ? [] : objects.pods.filter(({ spec }) => nodes.has(spec.nodeName));
  return new Set([...bothSides(changes), ...moved]);
}

function servicesOf(index: SnapshotIndex, { metadata }: Pod): readonly string[] {
  const { namespace = '', labels } = metadata;
  return index.selecting(namespace, labels).map((name) => `${namespace}/${name}`);
}

const keyOf = ({ metadata }: KubeObject): string => objectKey(metadata);

const serviceOf = ({ metadata }: KubeObject): string =>
  `${metadata.namespace ?? ''}/${metadata.labels?.[serviceNameLabel] ?? ''}`;
