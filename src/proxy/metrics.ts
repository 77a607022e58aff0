// What the proxy measures, under upstream's names (KPX-53..56).
import type { Counter, Gauge, Histogram, MetricsRegistry } from '../observe/metrics.ts';

export type ProxyMetrics = {
  readonly syncSeconds: Histogram;
  readonly fullSyncSeconds: Histogram;
  readonly partialSyncSeconds: Histogram;
  readonly lastSync: Gauge;
  readonly lastQueued: Gauge;
  readonly programmingSeconds: Histogram;
  readonly endpointChangesPending: Gauge;
  readonly endpointChanges: Counter;
  readonly serviceChangesPending: Gauge;
  readonly serviceChanges: Counter;
  readonly withoutLocalEndpoints: Gauge;
  readonly refusedAddresses: Gauge;
  readonly healthz: Counter;
  readonly livez: Counter;
  readonly iptablesRules: Gauge;
  readonly iptablesLastRules: Gauge;
  readonly iptablesFailures: Counter;
  readonly iptablesPartialFailures: Counter;
  readonly invalidDropped: Counter;
  readonly loopbackAccepted: Counter;
  readonly nftablesFailures: Counter;
  readonly nftablesCleanupFailures: Counter;
  readonly conntrackSeconds: Histogram;
  readonly conntrackDeleted: Counter;
};

/** A millisecond to sixteen seconds, doubling. */
const syncBuckets = Array.from({ length: 15 }, (_, n) => 0.001 * 2 ** n);

/** Fine below a minute, where it should be, and coarse up to five. */
const programmingBuckets = [
  ...[0.25, 0.5],
  ...Array.from({ length: 59 }, (_, n) => n + 1),
  ...Array.from({ length: 12 }, (_, n) => 60 + 5 * n),
  ...Array.from({ length: 7 }, (_, n) => 120 + 30 * n),
];

export function createProxyMetrics(registry: MetricsRegistry): ProxyMetrics {
  const { counter, gauge, histogram } = named(registry);
  const sync = 'sync_proxy_rules';
  return {
    syncSeconds: histogram(`${sync}_duration_seconds`, 'How long a sync took.', syncBuckets),
    fullSyncSeconds: histogram(
      'sync_full_proxy_rules_duration_seconds',
      'How long a sync of everything took.',
      syncBuckets,
    ),
    partialSyncSeconds: histogram(
      'sync_partial_proxy_rules_duration_seconds',
      'How long a sync of what changed took.',
      syncBuckets,
    ),
    lastSync: gauge(`${sync}_last_timestamp_seconds`, 'When rules were last written.'),
    lastQueued: gauge(`${sync}_last_queued_timestamp_seconds`, 'When a sync was last asked for.'),
    programmingSeconds: histogram(
      'network_programming_duration_seconds',
      'From the change of a pod or service to the rules that carry it.',
      programmingBuckets,
    ),
    endpointChangesPending: gauge(`${sync}_endpoint_changes_pending`, 'Endpoint changes waiting.'),
    endpointChanges: counter(`${sync}_endpoint_changes_total`, 'Endpoint changes seen.'),
    serviceChangesPending: gauge(`${sync}_service_changes_pending`, 'Service changes waiting.'),
    serviceChanges: counter(`${sync}_service_changes_total`, 'Service changes seen.'),
    withoutLocalEndpoints: gauge(
      `${sync}_no_local_endpoints_total`,
      'Service ports under policy Local with endpoints, but none on this node.',
    ),
    refusedAddresses: gauge(
      'refused_addresses',
      'Addresses that Services name as external IPs or of balancers, and do not get because others own them.',
    ),
    healthz: counter('proxy_healthz_total', 'Answers of /healthz by status.'),
    livez: counter('proxy_livez_total', 'Answers of /livez by status.'),
    iptablesRules: gauge(`${sync}_iptables_total`, 'Rules in the kernel by table.'),
    iptablesLastRules: gauge(`${sync}_iptables_last`, 'Rules written by the last sync by table.'),
    iptablesFailures: counter(
      `${sync}_iptables_restore_failures_total`,
      'Writes of everything that iptables refused.',
    ),
    iptablesPartialFailures: counter(
      `${sync}_iptables_partial_restore_failures_total`,
      'Writes of changes that iptables refused.',
    ),
    invalidDropped: counter(
      'iptables_ct_state_invalid_dropped_packets_total',
      'Packets that were dropped because conntrack could not place them.',
    ),
    loopbackAccepted: counter(
      'iptables_localhost_nodeports_accepted_packets_total',
      'Connections to node ports on the loopback.',
    ),
    nftablesFailures: counter(
      `${sync}_nftables_sync_failures_total`,
      'Writes that nftables refused.',
    ),
    nftablesCleanupFailures: counter(
      `${sync}_nftables_cleanup_failures_total`,
      'Removals of left-over rules that nftables refused.',
    ),
    conntrackSeconds: histogram(
      'conntrack_reconciler_sync_duration_seconds',
      'How long it took to look for flows to forget.',
      syncBuckets,
    ),
    conntrackDeleted: counter(
      'conntrack_reconciler_deleted_entries_total',
      'Flows that were forgotten because nobody serves them any more.',
    ),
  };
}

function named(registry: MetricsRegistry) {
  const facts = (name: string, help: string) => ({ name: `kubeproxy_${name}`, help });
  return {
    counter: (name: string, help: string): Counter => registry.counter(facts(name, help)),
    gauge: (name: string, help: string): Gauge => registry.gauge(facts(name, help)),
    histogram: (name: string, help: string, buckets: readonly number[]): Histogram =>
      registry.histogram({ ...facts(name, help), buckets }),
  };
}
