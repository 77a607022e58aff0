// What the controller counts, under the names that Kubernetes gives it, where the API server does this work.
import type { MetricsRegistry } from '../../observe/metrics.ts';

export type RepairMetrics = {
  /** Something was found wrong, told by this reason. */
  readonly found: (reason: string) => void;
  /** A look at a service or an address failed. */
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
    help: 'Cluster IPs found wrong, by what was wrong.',
  });
  const failures = registry.counter({
    name: 'apiserver_clusterip_repair_reconcile_errors_total',
    help: 'Looks at cluster IPs that failed.',
  });
  return {
    found: (reason) => errors.add({ type: types[reason] ?? 'unknown' }),
    failed: () => failures.add(),
  };
}
