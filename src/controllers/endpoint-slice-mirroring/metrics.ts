// What the controller counts, under the names that Kubernetes gives it.
import type { ChangeCounts, SliceChanges } from '../../kinds/endpoint-slice/count-changes.ts';
import type { Gauge, MetricsRegistry } from '../../observe/metrics.ts';

export type MirrorMetrics = {
  readonly synced: (sync: SyncedMirror) => void;
};

export type SyncedMirror = {
  readonly key: string;
  readonly changes: SliceChanges;
  readonly counts: ChangeCounts;
  /** Addresses that are in no slice. */
  readonly skipped: number;
  readonly tookMs: number;
};

/** 2, 4, 8 and so on: Endpoints differ by orders of magnitude. */
const sizeBuckets = Array.from({ length: 15 }, (_, power) => 2 ** (power + 1));
/** From a millisecond to half a minute. */
const secondBuckets = Array.from({ length: 15 }, (_, power) => 0.001 * 2 ** power);
const subsystem = 'endpoint_slice_mirroring_controller';

type Known = Pick<ChangeCounts, 'endpoints' | 'slices' | 'minSlices'>;

export function createMirrorMetrics(registry: MetricsRegistry): MirrorMetrics {
  const named = (name: string, help: string) => ({ name: `${subsystem}_${name}`, help });
  const perSync = (name: string, help: string, buckets = sizeBuckets) =>
    registry.histogram({ ...named(name, help), buckets });
  const added = perSync('endpoints_added_per_sync', 'Endpoints added in one look at Endpoints.');
  const updated = perSync(
    'endpoints_updated_per_sync',
    'Endpoints changed in one look at Endpoints.',
  );
  const removed = perSync(
    'endpoints_removed_per_sync',
    'Endpoints removed in one look at Endpoints.',
  );
  const skipped = perSync('addresses_skipped_per_sync', 'Addresses that were not mirrored.');
  const took = perSync('endpoints_sync_duration', 'Seconds that one look took.', secondBuckets);
  const changed = registry.counter(named('changes', 'Slices created, updated and deleted.'));
  // The sums are of this run: a controller that starts again counts all Endpoints anew.
  const gauge = (name: string, help: string): Gauge => {
    const made = registry.gauge(named(name, help));
    made.clear();
    return made;
  };
  const endpoints = gauge('endpoints_desired', 'Endpoints that there should be.');
  const slices = gauge('num_endpoint_slices', 'Slices there are.');
  const fewest = gauge('desired_endpoint_slices', 'Slices there would be if all were filled.');
  const known = new Map<string, Known>();
  const count = (one: Known | undefined, by: 1 | -1): void => {
    endpoints.add({}, by * (one?.endpoints ?? 0));
    slices.add({}, by * (one?.slices ?? 0));
    fewest.add({}, by * (one?.minSlices ?? 0));
  };
  return {
    synced({ key, changes, counts, skipped: left, tookMs }) {
      added.observe({}, counts.added);
      updated.observe({}, counts.updated);
      removed.observe({}, counts.removed);
      skipped.observe({}, left);
      took.observe({}, tookMs / 1000);
      for (const operation of ['create', 'update', 'delete'] as const) {
        if (changes[operation].length > 0) changed.add({ operation }, changes[operation].length);
      }
      count(known.get(key), -1);
      count(counts, 1);
      if (counts.slices > 0) known.set(key, counts);
      else known.delete(key);
    },
  };
}
