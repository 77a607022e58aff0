// Metrics, under upstream's names.
import type { ChangeCounts, SliceChanges } from '../../kinds/endpoint-slice/count-changes.ts';
import type { Service } from '../../kinds/service/types.ts';
import type { Gauge, MetricsRegistry } from '../../observe/metrics.ts';

export type SliceMetrics = {
  readonly synced: (sync: SyncedService) => void;
  readonly failed: () => void;
  readonly forget: (key: string) => void;
};

export type SyncedService = {
  readonly key: string;
  readonly service: Service;
  readonly changes: SliceChanges;
  readonly counts: ChangeCounts;
  /** Whether topology-mode is Auto, which overrides trafficDistribution. */
  readonly isSpread: boolean;
  /** Whether all selected pods are in slices. */
  readonly isWhole: boolean;
};

/** 2, 4, 8 and so on: services differ by orders of magnitude. */
const buckets = Array.from({ length: 15 }, (_, power) => 2 ** (power + 1));
const subsystem = 'endpoint_slice_controller';

type Known = Pick<ChangeCounts, 'endpoints' | 'slices' | 'minSlices'> & {
  readonly distribution: string;
};

export function createSliceMetrics(registry: MetricsRegistry): SliceMetrics {
  const named = (name: string, help: string) => ({ name: `${subsystem}_${name}`, help });
  const added = registry.histogram({
    ...named('endpoints_added_per_sync', 'Endpoints added in one sync of a Service.'),
    buckets,
  });
  const removed = registry.histogram({
    ...named('endpoints_removed_per_sync', 'Endpoints removed in one sync of a Service.'),
    buckets,
  });
  const changed = registry.histogram({
    ...named('endpointslices_changed_per_sync', 'EndpointSlices changed in one sync of a Service.'),
    buckets,
  });
  const changes = registry.counter(
    named('changes', 'EndpointSlices created, updated and deleted.'),
  );
  const syncs = registry.counter(named('syncs', 'Syncs of a Service, by result.'));
  const known = createKnown(registry, named);
  return {
    synced({ key, service, changes: done, counts, isSpread, isWhole }) {
      const distribution = isSpread ? '' : (service.spec.trafficDistribution ?? '');
      if (isWhole) syncs.add({ result: 'success' });
      added.observe({}, counts.added);
      removed.observe({}, counts.removed);
      changed.observe(
        { topology: isSpread ? 'Auto' : 'Disabled', traffic_distribution: distribution },
        counts.changedSlices,
      );
      for (const operation of ['create', 'update', 'delete'] as const) {
        if (done[operation].length > 0) changes.add({ operation }, done[operation].length);
      }
      known.set(key, { ...counts, distribution });
    },
    failed: () => syncs.add({ result: 'error' }),
    forget: known.forget,
  };
}

/** Sums over all Services, updated on every sync. */
function createKnown(
  registry: MetricsRegistry,
  named: (name: string, help: string) => { readonly name: string; readonly help: string },
) {
  const services = new Map<string, Known>();
  // The gauges restart at zero, because a restarted controller counts every Service again.
  const gauge = (name: string, help: string): Gauge => {
    const made = registry.gauge(named(name, help));
    made.clear();
    return made;
  };
  const endpoints = gauge('endpoints_desired', 'Number of endpoints desired.');
  const slices = gauge('num_endpoint_slices', 'Current number of EndpointSlices.');
  const minSlices = gauge('desired_endpoint_slices', 'Number of EndpointSlices if all were full.');
  const distributions = gauge(
    'services_count_by_traffic_distribution',
    'Services by their trafficDistribution.',
  );
  const count = (one: Known, by: 1 | -1): void => {
    endpoints.add({}, by * one.endpoints);
    slices.add({}, by * one.slices);
    minSlices.add({}, by * one.minSlices);
    if (one.distribution !== '') {
      distributions.add({ traffic_distribution: one.distribution }, by);
    }
  };
  const forget = (key: string): void => {
    const before = services.get(key);
    if (before !== undefined) count(before, -1);
    services.delete(key);
  };
  return {
    forget,
    set(key: string, now: Known): void {
      forget(key);
      services.set(key, now);
      count(now, 1);
    },
  };
}
