// Metrics, under the names of kube-apiserver, which runs this loop upstream.
import type { MetricsRegistry } from '../../observe/metrics.ts';

export type RepairMetrics = {
  /** A difference was found, with this reason. */
  readonly found: (reason: string) => void;
  /** A check of a Service or an IPAddress failed. */
  readonly failed: () => void;
};

const types: Readonly<Record<string, string>> = {
  ClusterIPNotValid: 'invalid',
  ClusterIPOutOfRange: 'outOfRange',
  ClusterIPNotAllocated: 'repair',
  ClusterIPAlreadyAllocated: 'duplicate',
  IPAddressNotAllocated: 'leak',
  IPAddressWrongReference: 'leak',
};

export function createRepairMetrics(registry: MetricsRegistry): RepairMetrics {
  const errors = registry.counter({
    name: 'apiserver_clusterip_repair_ip_errors_total',
    help: 'Errors of cluster IP allocations found, by type.',
  });
  const failures = registry.counter({
    name: 'apiserver_clusterip_repair_reconcile_errors_total',
    help: 'Failed checks of cluster IPs.',
  });
  return {
    found: (reason) => errors.add({ type: types[reason] ?? 'unknown' }),
    failed: () => failures.add(),
  };
}
