// The objects that say what was measured: of one Service what belongs to it, otherwise those of the namespaces.
import type { ApiCaller } from '../client/api-call.ts';
import { serviceNameLabel } from '../meta/well-known-labels.ts';
import { openObjectReader } from '../snapshot/read-objects.ts';
import { readSnapshot } from '../snapshot/read-snapshot.ts';
import type { Snapshot, SnapshotKind } from '../snapshot/snapshot.ts';

export type TopScope = {
  /** Absent: all. */
  readonly namespace?: string;
  /** Of the Service; absent: all. */
  readonly name?: string;
};

export function readTopSnapshot(
  caller: ApiCaller,
  { namespace, name }: TopScope,
  signal: AbortSignal,
): Promise<Snapshot> {
  if (namespace !== undefined && name !== undefined)
    return readService(caller, { namespace, name }, signal);
  // Pods say how long an endpoint has been ready. Those of all namespaces are too much for that.
  const kinds: readonly SnapshotKind[] = ['services', 'endpointSlices', 'nodes'];
  return readSnapshot(caller, {
    signal,
    ...(namespace === undefined
      ? { kinds }
      : { kinds: [...kinds, 'pods'], namespaces: [namespace] }),
  });
}

async function readService(
  caller: ApiCaller,
  { namespace, name }: Required<TopScope>,
  signal: AbortSignal,
): Promise<Snapshot> {
  const reader = openObjectReader(caller, { signal });
  await reader.read([
    { kind: 'services', namespace, name },
    { kind: 'endpointSlices', namespace, labelSelector: `${serviceNameLabel}=${name}` },
    { kind: 'nodes' },
  ]);
  const [service] = reader.snapshot().objects.services;
  const selector = Object.entries(service?.spec.selector ?? {});
  if (selector.length > 0) {
    const labelSelector = selector.map(([key, value]) => `${key}=${value}`).join(',');
    await reader.read([{ kind: 'pods', namespace, labelSelector }]);
  }
  return reader.snapshot();
}
