// Metrics, under upstream's names.
import type { ChangeCounts, SliceChanges } from '../../kinds/endpoint-slice/count-changes.ts';
import type { Gauge, MetricsRegistry } from '../../observe/metrics.ts';

export type MirrorMetrics = {
  readonly synced: (sync: SyncedMirror) => void;
};

export type SyncedMirror = {
  readonly key: string;
  readonly changes: SliceChanges;
  readonly counts: ChangeCounts;
  /** Addresses that were not mirrored. */
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
  const added = perSync('endpoints_added_per_sync', 'Endpoints added in one sync of Endpoints.');
  const updated = perSync(
    'endpoints_updated_per_sync',
    'Endpoints updated in one sync of Endpoints.',
  );
  const removed = perSync(
    'endpoints_removed_per_sync',
    'Endpoints removed in one sync of Endpoints.',
  );
  const skipped = perSync('addresses_skipped_per_sync', 'Addresses that were not mirrored.');
  const took = perSync(
    'endpoints_sync_duration',
    'Duration of one sync in seconds.',
    secondBuckets,
  );
  const changed = registry.counter(
    named('changes', 'EndpointSlices created, updated and deleted.'),
  );
  // The gauges restart at zero, because a restarted controller counts all Endpoints again.
  const gauge = (name: string, help: string): Gauge => {
    const made = registry.gauge(named(name, help));
    made.clear();
    return made;
  };
  const endpoints = gauge('endpoints_desired', 'Number of endpoints desired.');
  const slices = gauge('num_endpoint_slices', 'Current number of EndpointSlices.');
  const minSlices = gauge('desired_endpoint_slices', 'Number of EndpointSlices if all were full.');
  const known = new Map<string, Known>();
  const count = (one: Known | undefined, by: 1 | -1): void => {
    endpoints.add({}, by * (one?.endpoints ?? 0));
    slices.add({}, by * (one?.slices ?? 0));
    minSlices.add({}, by * (one?.minSlices ?? 0));
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
