// Metrics, under upstream's names.
import type { MetricsRegistry } from '../../observe/metrics.ts';

export type EvictionMetrics = {
  /** A pod was deleted this long after it was due. */
  readonly deleted: (lateMs: number) => void;
};

/** As upstream: 5 ms to 4 minutes. */
const buckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240];

export function createEvictionMetrics(registry: MetricsRegistry): EvictionMetrics {
  const subsystem = 'taint_eviction_controller';
  const deletions = registry.counter({
    name: `${subsystem}_pod_deletions_total`,
    help: 'Pods deleted because of a taint.',
  });
  const durations = registry.histogram({
    name: `${subsystem}_pod_deletion_duration_seconds`,
    help: 'Time from when an eviction was due to the deletion of the pod.',
    buckets,
  });
  return {
    deleted(lateMs) {
      deletions.add();
      durations.observe({}, lateMs / 1000);
    },
  };
}
