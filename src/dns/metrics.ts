// Metrics, with CoreDNS' names where they mean the same.
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
  type Scalar,
} from './counters.ts';
import { type ServerAddress, serverText } from './forward/upstream-servers.ts';
import type { Contact } from './observe-transport.ts';
import { rcodeName } from './wire/record-types.ts';

export type UpstreamMetrics = {
  readonly answered: (server: ServerAddress, rcode: number, tookMs: number) => void;
  readonly failed: (server: ServerAddress) => void;
  readonly checkFailed: (server: ServerAddress) => void;
};

/** For the answering thread, which forwards queries. */
export function createUpstreamMetrics(registry: MetricsRegistry): UpstreamMetrics {
  const duration = registry.histogram({
    name: 'coredns_proxy_request_duration_seconds',
    help: 'Response time of each upstream server.',
    buckets: durationBuckets,
  });
  const failures = registry.counter({
    name: 'fairlead_dns_upstream_failures_total',
    help: 'Queries that an upstream server did not answer.',
  });
  const checks = registry.counter({
    name: 'coredns_proxy_healthcheck_failures_total',
    help: 'Failed health checks of upstream servers that are down.',
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
  /** From the change of an endpoint to its name, for headless Services with a selector. */
  readonly programmed: (seconds: number) => void;
};

/** For the thread that watches the API server. */
export function createSyncMetrics(registry: MetricsRegistry): SyncMetrics {
  const duration = registry.histogram({
    name: 'coredns_kubernetes_dns_programming_duration_seconds',
    help: 'Time from the change of an endpoint to the change of its name.',
    buckets: [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1, 2, 4, 8, 16],
  });
  const labels = { service_kind: 'headless_with_selector' };
  return { programmed: (seconds) => duration.observe(labels, seconds) };
}

/** Whether names are up to date: without the API server they do not change. */
export function measureContact(registry: MetricsRegistry, contact: () => Contact): void {
  registry.gaugeFrom(
    { name: 'fairlead_dns_api_connected', help: 'Whether the API server is reachable.' },
    () => (contact().isConnected ? 1 : 0),
  );
  registry.gaugeFrom(
    {
      name: 'fairlead_dns_api_last_contact_timestamp_seconds',
      help: 'Time of the last response or event from the API server.',
    },
    () => contact().lastMs / 1000,
  );
}

/** Metrics without further labels: name, help, counter, type. */
const scalarMetrics: readonly (readonly [string, string, Scalar, string])[] = [
  ['coredns_dns_do_requests_total', 'Queries with the DO bit.', 'dnssecOk', 'counter'],
  ['coredns_panics_total', 'Unexpected errors while answering a query.', 'panics', 'counter'],
  ['coredns_cache_misses_total', 'Upstream answers that were not cached.', 'cacheMiss', 'counter'],
  [
    'coredns_cache_served_stale_total',
    'Expired answers served because upstream failed.',
    'cacheStale',
    'counter',
  ],
  [
    'coredns_cache_prefetch_total',
    'Popular answers refreshed before they expired.',
    'cachePrefetch',
    'counter',
  ],
  [
    'coredns_autopath_success_total',
    'Search lists resolved for a pod by autopath.',
    'autopathSuccess',
    'counter',
  ],
  [
    'coredns_forward_max_concurrent_rejects_total',
    'Queries rejected because too many were in flight.',
    'maxConcurrentRejects',
    'counter',
  ],
  [
    'coredns_forward_healthcheck_broken_total',
    'Queries for which all upstream servers were down.',
    'healthcheckBroken',
    'counter',
  ],
  ['fairlead_dns_dropped_packets_total', 'Packets without a reply.', 'dropped', 'counter'],
  ['fairlead_dns_tcp_connections', 'Open TCP connections.', 'tcpConnections', 'gauge'],
  [
    'fairlead_dns_tcp_refused_total',
    'TCP connections rejected by a limit.',
    'tcpRefused',
    'counter',
  ],
  ['fairlead_dns_kept_answers', 'Encoded answers in the response cache.', 'keptAnswers', 'gauge'],
  ['fairlead_dns_services', 'Services with names.', 'services', 'gauge'],
  ['fairlead_dns_endpoints', 'Endpoints with names.', 'endpoints', 'gauge'],
];

/** The counters of the answering thread in exposition format. `server` is CoreDNS' name of a listener, such as dns://:53. */
export function counterText(memory: CounterMemory, server: string): string {
  const read = readCounters(memory);
  const serverLabels = `server="${server}",zone=".",view=""`;
  const lines: string[] = [];
  const metric = (name: string, help: string, type: string, values: readonly string[]): void => {
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...values);
  };
  metric('coredns_dns_requests_total', 'Queries.', 'counter', requestLines(read, serverLabels));
  metric('coredns_dns_responses_total', 'Responses.', 'counter', responseLines(read, serverLabels));
  metric(
    'coredns_dns_request_duration_seconds',
    'Time from query to response.',
    'histogram',
    histogramLines('coredns_dns_request_duration_seconds', serverLabels, read.duration()),
  );
  for (const [name, help, of] of [
    ['coredns_dns_request_size_bytes', 'Sizes of queries.', read.requestSize],
    ['coredns_dns_response_size_bytes', 'Sizes of responses.', read.responseSize],
  ] as const) {
    const values = protocols.flatMap((proto, index) =>
      histogramLines(name, `${serverLabels},proto="${proto}"`, of(index)),
    );
    metric(name, help, 'histogram', values);
  }
  const caches = `server="${server}",zones=".",view=""`;
  metric('coredns_cache_hits_total', 'Answers found in the upstream cache.', 'counter', [
    `coredns_cache_hits_total{${caches},type="success"} ${read.scalar('cacheHitSuccess')}`,
    `coredns_cache_hits_total{${caches},type="denial"} ${read.scalar('cacheHitDenial')}`,
  ]);
  metric('coredns_cache_entries', 'Answers in the upstream cache.', 'gauge', [
    `coredns_cache_entries{${caches},type="success"} ${read.scalar('cacheEntriesSuccess')}`,
    `coredns_cache_entries{${caches},type="denial"} ${read.scalar('cacheEntriesDenial')}`,
  ]);
  for (const [name, help, single, type] of scalarMetrics) {
    const labels = name.startsWith('coredns_cache') ? `{${caches}}` : '';
    metric(name, help, type, [`${name}${labels} ${read.scalar(single)}`]);
  }
  return `${lines.join('\n')}\n`;
}

type Read = ReturnType<typeof readCounters>;

function requestLines(read: Read, serverLabels: string): readonly string[] {
  return protocols.flatMap((proto, p) =>
    families.flatMap((family, f) =>
      countedTypes.flatMap((type, t) => {
        const value = read.requests(p, f, t);
        const labels = `${serverLabels},proto="${proto}",family="${family}",type="${type}"`;
        return value === 0 ? [] : [`coredns_dns_requests_total{${labels}} ${value}`];
      }),
    ),
  );
}

function responseLines(read: Read, serverLabels: string): readonly string[] {
  return answeredBy.flatMap((by, b) =>
    countedRcodes.flatMap((rcode, r) => {
      const value = read.responses(b, r);
      const labels = `${serverLabels},rcode="${rcode}",plugin="${by}"`;
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
