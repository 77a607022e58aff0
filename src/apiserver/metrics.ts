// The metrics of the API server, under upstream's names where they mean the same.
import { readdirSync } from 'node:fs';
import type { Labels, MetricsRegistry, Tally } from '../observe/metrics.ts';
import type { ConnectionTable, EvictReason } from './limits/connection-table.ts';
import type { Rejection } from './limits/fair-queue.ts';
import type { CutReason } from './limits/unread-bytes.ts';
import type { RequestInfo, ResourceRequest } from './request/request-info.ts';

/** Counters of one kind of request. The same object each time, so that counting costs no lookup and no allocation. */
export type RouteMetrics = {
  readonly isMutating: boolean;
  readonly inFlight: Tally;
  /** Streams that are open. */
  readonly longRunning: Tally;
  readonly watchEvents: Tally;
  readonly answered: (status: number, seconds: number, bytes: number) => void;
  /** The server terminated it to protect itself. */
  readonly terminated: (status: number) => void;
};

export type RequestMetrics = { readonly of: (info: RequestInfo) => RouteMetrics };

export type RequestMetricsOptions = {
  readonly registry: MetricsRegistry;
  /** Whether there is such a resource, and below it such a subresource. */
  readonly isServed: (info: ResourceRequest) => boolean;
};

const durationBuckets = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45,
  60,
];
const sizeBuckets = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

export function createRequestMetrics({
  registry,
  isServed,
}: RequestMetricsOptions): RequestMetrics {
  const families = createFamilies(registry);
  const known = new Map<string, RouteMetrics>();
  /** Unknown verbs and resources share their counters: a client could invent any number. */
  const knownLabels = new Map<string, RouteMetrics>();
  return {
    of(info) {
      const key = keyOf(info);
      let route = known.get(key);
      if (route === undefined) {
        const labels = labelsOf(info, isServed);
        const shared = Object.values(labels).join('/');
        route = knownLabels.get(shared) ?? createRoute(families, labels, info.verb);
        knownLabels.set(shared, route);
        if (known.size >= maxKnown) known.clear();
        known.set(key, route);
      }
      return route;
    },
  };
}

/** There are at most a few thousand kinds of requests; more are invented by clients. */
const maxKnown = 5000;

function keyOf(info: RequestInfo): string {
  if (info.kind === 'path') return info.verb;
  const { verb, group, version, resource, subresource } = info;
  return `${verb} ${group} ${version} ${resource} ${subresource} ${scopeOf(info)}`;
}

type Families = ReturnType<typeof createFamilies>;

function createFamilies(registry: MetricsRegistry) {
  return {
    requests: registry.counter({
      name: 'apiserver_request_total',
      help: 'Requests by verb, resource and HTTP status.',
    }),
    durations: registry.histogram({
      name: 'apiserver_request_duration_seconds',
      help: 'Time to the answer, of watches to the start of the stream.',
      buckets: durationBuckets,
    }),
    sizes: registry.histogram({
      name: 'apiserver_response_sizes',
      help: 'Bytes of the answers to reads.',
      buckets: sizeBuckets,
    }),
    inFlight: registry.gauge({
      name: 'apiserver_current_inflight_requests',
      help: 'Requests being answered now.',
    }),
    longRunning: registry.gauge({
      name: 'apiserver_longrunning_requests',
      help: 'Watches and other streams that are open.',
    }),
    watchEvents: registry.counter({
      name: 'apiserver_watch_events_total',
      help: 'Events sent to watchers.',
    }),
    terminations: registry.counter({
      name: 'apiserver_request_terminations_total',
      help: 'Requests that the server broke off to protect itself.',
    }),
  };
}

function createRoute(families: Families, labels: Labels, verb: string): RouteMetrics {
  const isMutating = !reading.has(verb);
  const requestKind = { request_kind: isMutating ? 'mutating' : 'readOnly' };
  const { group = '', version = '', resource = '' } = labels;
  const durations = families.durations.observer(labels);
  const sizes = isMutating || verb === 'watch' ? undefined : families.sizes.observer(labels);
  const codes = new Map<number, Tally>();
  let lazily: { readonly longRunning: Tally; readonly watchEvents: Tally } | undefined;
  // Only streams have these.
  const ofStreams = () => {
    lazily ??= {
      longRunning: families.longRunning.tally(labels),
      watchEvents: families.watchEvents.tally({ group, version, resource }),
    };
    return lazily;
  };
  return {
    isMutating,
    inFlight: families.inFlight.tally(requestKind),
    get longRunning() {
      return ofStreams().longRunning;
    },
    get watchEvents() {
      return ofStreams().watchEvents;
    },
    answered(status, seconds, bytes) {
      let count = codes.get(status);
      if (count === undefined) {
        count = families.requests.tally({ ...labels, code: String(status) });
        codes.set(status, count);
      }
      count.value += 1;
      durations(seconds);
      sizes?.(bytes);
    },
    terminated: (status) => families.terminations.add({ ...labels, code: String(status) }),
  };
}

const reading = new Set(['get', 'list', 'watch', 'head', 'options']);

const verbs = new Set(
  'get list watch create update patch delete deletecollection head post put options connect'.split(
    ' ',
  ),
);

/** Invented names would exhaust the memory: only what is served has labels of its own. */
function labelsOf(info: RequestInfo, isServed: RequestMetricsOptions['isServed']): Labels {
  const verb = verbs.has(info.verb) ? info.verb.toUpperCase() : 'OTHER';
  const component = 'apiserver';
  if (info.kind === 'path' || !isServed(info))
    return { verb, group: '', version: '', resource: '', subresource: '', scope: '', component };
  const { group, version, resource, subresource } = info;
  return { verb, group, version, resource, subresource, scope: scopeOf(info), component };
}

function scopeOf({ name, verb, namespace }: ResourceRequest): string {
  if (name !== '' || verb === 'create') return 'resource';
  return namespace === '' ? 'cluster' : 'namespace';
}

/** Flow control of requests. */
export type FlowMetrics = {
  readonly dispatched: (level: Level) => void;
  readonly rejected: (level: Level, reason: Rejection) => void;
  readonly queued: (level: Level, count: number) => void;
};

/** Kubernetes' priority levels have other names; the first two have separate seats, the third needs none. */
export type Level = 'mutating' | 'readOnly' | 'exempt';

export function createFlowMetrics(registry: MetricsRegistry): FlowMetrics {
  const dispatched = registry.counter({
    name: 'apiserver_flowcontrol_dispatched_requests_total',
    help: 'Requests that got a seat, or need none.',
  });
  const rejected = registry.counter({
    name: 'apiserver_flowcontrol_rejected_requests_total',
    help: 'Requests that got no seat.',
  });
  const queued = registry.gauge({
    name: 'apiserver_flowcontrol_current_inqueue_requests',
    help: 'Requests that wait for a seat.',
  });
  const levels = (make: (labels: Labels) => Tally): Readonly<Record<Level, Tally>> => ({
    mutating: make({ priority_level: 'mutating', flow_schema: 'user' }),
    readOnly: make({ priority_level: 'readOnly', flow_schema: 'user' }),
    exempt: make({ priority_level: 'exempt', flow_schema: 'exempt' }),
  });
  const dispatchedTallies = levels(dispatched.tally);
  const waiting = levels(queued.tally);
  return {
    dispatched: (level) => {
      dispatchedTallies[level].value += 1;
    },
    rejected: (level, reason) =>
      rejected.add({ priority_level: level, flow_schema: 'user', reason }),
    queued: (level, count) => {
      waiting[level].value += count;
    },
  };
}

/** The listener and its connections. */
export type ServerMetrics = {
  readonly connected: (count: number) => void;
  readonly refused: () => void;
  readonly evicted: (reason: EvictReason) => void;
  readonly followHolders: (counts: ConnectionTable['counts']) => void;
  readonly cut: (reason: CutReason) => void;
  readonly follow: (held: {
    readonly bodyBytes: () => number;
    readonly unreadBytes: () => number;
  }) => void;
  /** Connections whose handshake has not begun. */
  readonly followWaiting: (waiting: () => number) => void;
};

export function createServerMetrics(registry: MetricsRegistry): ServerMetrics {
  const connections = registry
    .gauge({ name: 'fairlead_apiserver_open_connections', help: 'Connections that are open.' })
    .tally({});
  const refused = registry.counter({
    name: 'fairlead_apiserver_refused_connections_total',
    help: 'Connections beyond the limit.',
  });
  const evicted = registry.counter({
    name: 'fairlead_apiserver_evicted_connections_total',
    help: 'Connections closed to make room for others, by the limit that was reached.',
  });
  const cut = registry.counter({
    name: 'fairlead_apiserver_slow_readers_cut_total',
    help: 'Answers and watches broken off because their client does not read.',
  });
  return {
    connected: (count) => {
      connections.value += count;
    },
    refused: () => refused.add(),
    evicted: (reason) => evicted.add({ reason }),
    followHolders(counts) {
      registry.gaugeFrom(
        {
          name: 'fairlead_apiserver_unauthenticated_connections',
          help: 'Connections whose user is not known.',
        },
        () => counts().unauthenticated,
      );
    },
    cut: (reason) => cut.add({ reason }),
    follow({ bodyBytes, unreadBytes }) {
      registry.gaugeFrom(
        {
          name: 'fairlead_apiserver_request_body_bytes',
          help: 'Bytes of request bodies that are not whole yet.',
        },
        bodyBytes,
      );
      registry.gaugeFrom(
        {
          name: 'fairlead_apiserver_unread_bytes',
          help: 'Bytes of answers that slow clients have not read.',
        },
        unreadBytes,
      );
    },
    followWaiting(waiting) {
      registry.gaugeFrom(
        {
          name: 'fairlead_apiserver_waiting_connections',
          help: 'Connections whose handshake has not begun.',
        },
        waiting,
      );
    },
  };
}

export function addProcessMetrics(registry: MetricsRegistry, startedAt: number): void {
  registry.gaugeFrom({ name: 'process_resident_memory_bytes', help: 'Resident memory.' }, () =>
    process.memoryUsage.rss(),
  );
  registry.counterFrom({ name: 'process_cpu_seconds_total', help: 'CPU time used.' }, () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  registry.gaugeFrom(
    { name: 'process_start_time_seconds', help: 'When the process started, since the epoch.' },
    () => startedAt / 1000,
  );
  registry.gaugeFrom({ name: 'process_open_fds', help: 'Files and sockets open.' }, openFiles);
}

/** 0 where there is no /proc. */
function openFiles(): number {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return 0;
  }
}
