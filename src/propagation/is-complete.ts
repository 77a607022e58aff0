// Whether there is nothing left to wait for: the slices say what the pods are, and all parts have them in effect.
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { Propagation } from './propagation.ts';
import { hasStaleSlices } from './stale-slices.ts';

export type Completeness = 'complete' | 'stale-slices' | 'newer-changes';

/** `report` is one in which all parts are current; the objects were read after it. */
export function isComplete(report: Propagation, { objects }: Snapshot): Completeness {
  const [service] = objects.services;
  // What may not be read is not judged.
  if (service === undefined) return 'complete';
  const { pods, endpointSlices: slices } = objects;
  if (hasStaleSlices({ service, pods, slices })) return 'stale-slices';
  const newest = Math.max(
    ...[service, ...slices].map(({ metadata }) => Number(metadata.resourceVersion ?? 0)),
  );
  return newest > Number(report.revision) ? 'newer-changes' : 'complete';
}
