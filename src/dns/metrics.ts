// What is measured, under CoreDNS' names.
import type { MetricsRegistry } from '../observe/metrics.ts';
import {
  answeredBy,
  type CounterMemory,
  countedRcodes,
  countedTypes,
  durationBuckets,
  families,
  type HistogramValues,
  protocols,
  readCounters,
  type Single,
} from './counters.ts';
import type { Contact } from './forward/observed-transport.ts';
import { type ServerAddress, serverText } from './forward/upstream-servers.ts';
import { rcodeName } from './wire/record-types.ts';

export type UpstreamMetrics = {
  readonly answered: (server: ServerAddress, rcode: number, tookMs: number) => void;
  readonly failed: (server: ServerAddress) => void;
  readonly checkFailed: (server: ServerAddress) => void;
};

/** For the thread that asks upstream servers. */
export function createUpstreamMetrics(registry: MetricsRegistry): UpstreamMetrics {
  const duration = registry.histogram({
    name: 'coredns_proxy_request_duration_seconds',
    help: 'How long each upstream server took to answer.',
    buckets: durationBuckets,
  });
  const failures = registry.counter({
    name: 'fairlead_dns_upstream_failures_total',
    help: 'Questions that an upstream server did not answer.',
  });
  const checks = registry.counter({
    name: 'coredns_proxy_healthcheck_failures_total',
    help: 'Checks whether an upstream server is back that found that it is not.',
  });
  const labels = (server: ServerAddress) => ({ proxy_name: 'forward', to: serverText(server) });
  return {
    answered: (server, rcode, tookMs) =>
      duration.observe({ ...labels(server), rcode: rcodeName(rcode) }, tookMs / 1000),
    failed: (server) => failures.add(labels(server)),
    checkFailed: (server) => checks.add(labels(server)),
  };
}

export type SyncMetrics = {
  /** From the change of a pod to its name, for headless services with a selector. */
  readonly programmed: (seconds: number) => void;
};

/** For the thread that watches the API server. */
export function createSyncMetrics(registry: MetricsRegistry): SyncMetrics {
  const duration = registry.histogram({
    name: 'coredns_kubernetes_dns_programming_duration_seconds',
    help: 'From the change of an endpoint to the changed name.',
    buckets: [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1, 2, 4, 8, 16],
  });
  const labels = { service_kind: 'headless_with_selector' };
  return { programmed: (seconds) => duration.observe(labels, seconds) };
}

/** Whether names can still change: without the API server they stay as they are. */
export function measureContact(registry: MetricsRegistry, contact: () => Contact): void {
  registry.gaugeFrom(
    { name: 'fairlead_dns_api_connected', help: 'Whether the API server answers.' },
    () => (contact().isConnected ? 1 : 0),
  );
  registry.gaugeFrom(
    {
      name: 'fairlead_dns_api_last_contact_timestamp_seconds',
      help: 'When the API server last said something.',
    },
    () => contact().lastMs / 1000,
  );
}

/** Gauges and counters that stand alone: name, help, and where the number is. */
const alone: readonly (readonly [string, string, Single, string])[] = [
  ['coredns_dns_do_requests_total', 'Questions that want signatures.', 'dnssecOk', 'counter'],
  ['coredns_panics_total', 'Packets on which this server broke.', 'panics', 'counter'],
  ['coredns_cache_misses_total', 'Answers that were not at hand.', 'cacheMiss', 'counter'],
  ['coredns_cache_served_stale_total', 'Answers past their end.', 'cacheStale', 'counter'],
  ['coredns_cache_prefetch_total', 'Popular answers renewed early.', 'cachePrefetch', 'counter'],
  [
    'coredns_autopath_success_total',
    'Search lists walked for a pod.',
    'autopathSuccess',
    'counter',
  ],
  [
    'coredns_forward_max_concurrent_rejects_total',
    'Questions refused because too many were under way.',
    'maxConcurrentRejects',
    'counter',
  ],
  [
    'coredns_forward_healthcheck_broken_total',
    'Questions for which all upstream servers were down.',
    'healthcheckBroken',
    'counter',
  ],
  ['fairlead_dns_dropped_packets_total', 'Packets without an answer.', 'dropped', 'counter'],
  ['fairlead_dns_tcp_connections', 'Open TCP connections.', 'tcpConnections', 'gauge'],
  ['fairlead_dns_tcp_refused_total', 'TCP connections over the limit.', 'tcpRefused', 'counter'],
  ['fairlead_dns_kept_answers', 'Encoded answers at hand.', 'keptAnswers', 'gauge'],
  ['fairlead_dns_services', 'Services with names.', 'services', 'gauge'],
  ['fairlead_dns_endpoints', 'Endpoints with names.', 'endpoints', 'gauge'],
];

/** What the answering thread counts, as text. `server` is how CoreDNS calls a listener: dns://:53. */
export function counterText(memory: CounterMemory, server: string): string {
  const read = readCounters(memory);
  const place = `server="${server}",zone=".",view=""`;
  const lines: string[] = [];
  const metric = (name: string, help: string, type: string, values: readonly string[]): void => {
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...values);
  };
  metric('coredns_dns_requests_total', 'Questions.', 'counter', requestLines(read, place));
  metric('coredns_dns_responses_total', 'Answers.', 'counter', responseLines(read, place));
  metric(
    'coredns_dns_request_duration_seconds',
    'From question to answer.',
    'histogram',
    histogramLines('coredns_dns_request_duration_seconds', place, read.duration()),
  );
  for (const [name, help, of] of [
    ['coredns_dns_request_size_bytes', 'Sizes of questions.', read.requestSize],
    ['coredns_dns_response_size_bytes', 'Sizes of answers.', read.responseSize],
  ] as const) {
    const values = protocols.flatMap((proto, index) =>
      histogramLines(name, `${place},proto="${proto}"`, of(index)),
    );
    metric(name, help, 'histogram', values);
  }
  const caches = `server="${server}",zones=".",view=""`;
  metric('coredns_cache_hits_total', 'Answers at hand.', 'counter', [
    `coredns_cache_hits_total{${caches},type="success"} ${read.single('cacheHitSuccess')}`,
    `coredns_cache_hits_total{${caches},type="denial"} ${read.single('cacheHitDenial')}`,
  ]);
  metric('coredns_cache_entries', 'Answers kept.', 'gauge', [
    `coredns_cache_entries{${caches},type="success"} ${read.single('cacheEntriesSuccess')}`,
    `coredns_cache_entries{${caches},type="denial"} ${read.single('cacheEntriesDenial')}`,
  ]);
  for (const [name, help, single, type] of alone) {
    const labels = name.startsWith('coredns_cache') ? `{${caches}}` : '';
    metric(name, help, type, [`${name}${labels} ${read.single(single)}`]);
  }
  return `${lines.join('\n')}\n`;
}

type Read = ReturnType<typeof readCounters>;

function requestLines(read: Read, place: string): readonly string[] {
  return protocols.flatMap((proto, p) =>
    families.flatMap((family, f) =>
      countedTypes.flatMap((type, t) => {
        const value = read.requests(p, f, t);
        const labels = `${place},proto="${proto}",family="${family}",type="${type}"`;
        return value === 0 ? [] : [`coredns_dns_requests_total{${labels}} ${value}`];
      }),
    ),
  );
}

function responseLines(read: Read, place: string): readonly string[] {
  return answeredBy.flatMap((by, b) =>
    countedRcodes.flatMap((rcode, r) => {
      const value = read.responses(b, r);
      const labels = `${place},rcode="${rcode}",plugin="${by}"`;
      return value === 0 ? [] : [`coredns_dns_responses_total{${labels}} ${value}`];
    }),
  );
}

function histogramLines(
  name: string,
  labels: string,
  { buckets, counts, sum }: HistogramValues,
): readonly string[] {
  let total = 0;
  const lines = buckets.map((limit, index) => {
    total += counts[index] ?? 0;
    return `${name}_bucket{${labels},le="${limit}"} ${total}`;
  });
  total += counts[buckets.length] ?? 0;
  return [
    ...lines,
    `${name}_bucket{${labels},le="+Inf"} ${total}`,
    `${name}_sum{${labels}} ${sum}`,
    `${name}_count{${labels}} ${total}`,
  ];
}
