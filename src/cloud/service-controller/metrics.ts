// Metrics of the service controller, with upstream's names.
import type { MetricsRegistry } from '../../observe/metrics.ts';

/** As upstream: from one second, doubling to about four and a half hours. */
const buckets = Array.from({ length: 15 }, (_, power) => 2 ** power);

export type ServiceControllerMetrics = ReturnType<typeof createServiceControllerMetrics>;

export function createServiceControllerMetrics(registry: MetricsRegistry) {
  const named = (name: string, help: string) => ({ name: `service_controller_${name}`, help });
  return {
    syncs: registry.counter(
      named('loadbalancer_sync_total', 'Times that a balancer was configured.'),
    ),
    nodeSyncErrors: registry.counter(
      named('nodesync_error_total', 'Times that new hosts could not be given to a balancer.'),
    ),
    nodeSyncLatency: registry.histogram({
      ...named('nodesync_latency_seconds', 'From a change of nodes until all balancers know.'),
      buckets,
    }),
    hostUpdateLatency: registry.histogram({
      ...named('update_loadbalancer_host_latency_seconds', 'Giving new hosts to one balancer.'),
      buckets,
    }),
  };
}
