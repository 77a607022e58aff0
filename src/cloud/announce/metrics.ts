// The metrics of an announcer.
import type { MetricsRegistry } from '../../observe/metrics.ts';

export type AnnouncerMetrics = ReturnType<typeof createAnnouncerMetrics>;

export function createAnnouncerMetrics(registry: MetricsRegistry) {
  const named = (name: string, help: string) => ({ name: `fairlead_announcer_${name}`, help });
  return {
    addresses: registry.gauge(named('addresses', 'Addresses that this node answers for.')),
    living: registry.gauge(named('living_nodes', 'Announcers that live, this one included.')),
    takeovers: registry.counter(
      named('takeovers_total', 'Times that this node began to answer for an address.'),
    ),
  };
}
