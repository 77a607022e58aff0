// What the controller counts, under the names that Kubernetes gives it.
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
  /** Whether endpoints are to be spread over zones, which takes the place of trafficDistribution. */
  readonly isSpread: boolean;
  /** Whether all pods that belong into slices are in them. */
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
    ...named('endpoints_added_per_sync', 'Endpoints added in one look at a Service.'),
    buckets,
  });
  const removed = registry.histogram({
    ...named('endpoints_removed_per_sync', 'Endpoints removed in one look at a Service.'),
    buckets,
  });
  const changed = registry.histogram({
    ...named('endpointslices_changed_per_sync', 'Slices changed in one look at a Service.'),
    buckets,
  });
  const changes = registry.counter(named('changes', 'Slices created, updated and deleted.'));
  const syncs = registry.counter(named('syncs', 'Looks at a Service, by how they ended.'));
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

/** The sums over all services, kept up to date from one look to the next. */
function createKnown(
  registry: MetricsRegistry,
  named: (name: string, help: string) => { readonly name: string; readonly help: string },
) {
  const services = new Map<string, Known>();
  // The sums are of this run: a controller that starts again counts every service anew.
  const gauge = (name: string, help: string): Gauge => {
    const made = registry.gauge(named(name, help));
    made.clear();
    return made;
  };
  const endpoints = gauge('endpoints_desired', 'Endpoints that Services should have.');
  const slices = gauge('num_endpoint_slices', 'Slices there are.');
  const fewest = gauge('desired_endpoint_slices', 'Slices there would be if all were filled.');
  const distributions = gauge(
    'services_count_by_traffic_distribution',
    'Services by their trafficDistribution.',
  );
  const count = (one: Known, by: 1 | -1): void => {
    endpoints.add({}, by * one.endpoints);
    slices.add({}, by * one.slices);
    fewest.add({}, by * one.minSlices);
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
