// Metrics, under upstream's names.
import type { MetricsRegistry } from '../../observe/metrics.ts';
import type { LostReason } from './desired.ts';

export type PodGcMetrics = {
  readonly removed: (namespace: string, reason: LostReason) => void;
  readonly failed: (namespace: string, reason: LostReason) => void;
};

export function createPodGcMetrics(registry: MetricsRegistry): PodGcMetrics {
  const removed = registry.counter({
    name: 'pod_gc_collector_force_delete_pods_total',
    help: 'Pods deleted, by namespace and reason.',
  });
  const failed = registry.counter({
    name: 'pod_gc_collector_force_delete_pod_errors_total',
    help: 'Failed deletions of pods, by namespace and reason.',
  });
  return {
    removed: (namespace, reason) => removed.add({ namespace, reason }),
    failed: (namespace, reason) => failed.add({ namespace, reason }),
  };
}
