// What the proxy measures, under upstream's names (KPX-53..56).
import type { Counter, Gauge, Histogram, MetricsRegistry } from '../observe/metrics.ts';
import type { MetricDescription, ModeDescription, ModeMetric } from './modes/mode.ts';

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
  readonly conntrackSeconds: Histogram;
  readonly conntrackDeleted: Counter;
  readonly ofMode: ModeMetrics;
};

type ModeGauge = 'rules' | 'written';

/** Those that the mode in use has. */
export type ModeMetrics = { readonly [M in ModeGauge]?: Gauge } & {
  readonly [M in Exclude<ModeMetric, ModeGauge>]?: Counter;
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

type Modes = {
  readonly modes: readonly Pick<ModeDescription, 'metrics'>[];
  /** The mode in use. */
  readonly mode: Pick<ModeDescription, 'metrics'>;
};

/** Registers the metrics of all modes: dashboards find the names whichever mode is in use. */
export function createProxyMetrics(
  registry: MetricsRegistry,
  { modes, mode }: Modes,
): ProxyMetrics {
  for (const one of modes) modeMetrics(registry, one);
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
    conntrackSeconds: histogram(
      'conntrack_reconciler_sync_duration_seconds',
      'How long it took to look for flows to forget.',
      syncBuckets,
    ),
    conntrackDeleted: counter(
      'conntrack_reconciler_deleted_entries_total',
      'Flows that were deleted because their endpoint is gone.',
    ),
    ofMode: modeMetrics(registry, mode),
  };
}

function modeMetrics(
  registry: MetricsRegistry,
  { metrics = {} }: Pick<ModeDescription, 'metrics'>,
): ModeMetrics {
  const { counter, gauge } = named(registry);
  const entries = Object.entries(metrics) as [ModeMetric, MetricDescription][];
  return Object.fromEntries(
    entries.map(([metric, { name, help }]) => [
      metric,
      metric === 'rules' || metric === 'written' ? gauge(name, help) : counter(name, help),
    ]),
  );
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
