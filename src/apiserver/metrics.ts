// What the API server measures, under upstream's names where they mean the same.
import type { Labels, MetricsRegistry } from '../observe/metrics.ts';
import type { RequestInfo, ResourceRequest } from './request-info.ts';

export type RequestMetrics = {
  /** Call at the start of a request; call the result with the status of its answer. */
  readonly started: (info: RequestInfo) => (status: number) => void;
};

const durationBuckets = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45,
  60,
];

export type RequestMetricsOptions = {
  readonly registry: MetricsRegistry;
  readonly now: () => number;
  /** Whether there is such a resource, and below it such a subresource. */
  readonly isServed: (info: ResourceRequest) => boolean;
};

export function createRequestMetrics(options: RequestMetricsOptions): RequestMetrics {
  const { registry, now, isServed } = options;
  const requests = registry.counter({
    name: 'apiserver_request_total',
    help: 'Requests by verb, resource and HTTP status.',
  });
  const durations = registry.histogram({
    name: 'apiserver_request_duration_seconds',
    help: 'Time to the answer, of watches to the start of the stream.',
    buckets: durationBuckets,
  });
  const inFlight = registry.gauge({
    name: 'apiserver_current_inflight_requests',
    help: 'Requests being answered now.',
  });
  registry.gaugeFrom({ name: 'process_resident_memory_bytes', help: 'Resident memory.' }, () =>
    process.memoryUsage.rss(),
  );
  registry.gaugeFrom({ name: 'process_cpu_seconds_total', help: 'CPU time used.' }, () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  const labelsFor = createLabels(isServed);
  return {
    started(info) {
      const start = now();
      const kind = isMutating(info.verb) ? mutating : readOnly;
      inFlight.add(kind, 1);
      return (status) => {
        inFlight.add(kind, -1);
        const labels = labelsFor(info);
        requests.add(labels.withCode(status));
        durations.observe(labels.plain, (now() - start) / 1000);
      };
    },
  };
}

const mutating = { request_kind: 'mutating' };
const readOnly = { request_kind: 'readOnly' };

type RequestLabels = {
  readonly plain: Labels;
  readonly withCode: (status: number) => Labels;
};

/** Labels of the same request are the same object each time, whose text the registry then knows. */
function createLabels(
  isServed: RequestMetricsOptions['isServed'],
): (info: RequestInfo) => RequestLabels {
  const known = new Map<string, RequestLabels>();
  return (info) => {
    const plain = labelsOf(info, isServed);
    const key = Object.values(plain).join('/');
    let labels = known.get(key);
    if (labels === undefined) {
      labels = { plain, withCode: createCodes(plain) };
      known.set(key, labels);
    }
    return labels;
  };
}

function createCodes(plain: Labels): (status: number) => Labels {
  const known = new Map<number, Labels>();
  return (status) => {
    let labels = known.get(status);
    if (labels === undefined) {
      labels = { ...plain, code: String(status) };
      known.set(status, labels);
    }
    return labels;
  };
}

const reading = new Set(['get', 'list', 'watch']);
const isMutating = (verb: string): boolean => !reading.has(verb);

const verbs = new Set(
  'get list watch create update patch delete deletecollection head post put options connect'.split(
    ' ',
  ),
);

/** Names that a client makes up would let it fill the memory: only what is served has labels of its own. */
function labelsOf(info: RequestInfo, isServed: RequestMetricsOptions['isServed']): Labels {
  const verb = verbs.has(info.verb) ? info.verb.toUpperCase() : 'OTHER';
  if (info.kind === 'path' || !isServed(info))
    return { verb, group: '', version: '', resource: '', subresource: '' };
  const { group, version, resource, subresource } = info;
  return { verb, group, version, resource, subresource };
}
