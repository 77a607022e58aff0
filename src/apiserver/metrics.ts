// What the API server measures, under upstream's names where they mean the same.
import type { MetricsRegistry } from '../observe/metrics.ts';
import type { RequestInfo } from './request-info.ts';

export type RequestMetrics = {
  /** Call at the start of a request; call the result with the status of its answer. */
  readonly started: (info: RequestInfo) => (status: number) => void;
};

const durationBuckets = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45,
  60,
];

export function createRequestMetrics(registry: MetricsRegistry, now: () => number): RequestMetrics {
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
  return {
    started(info) {
      const start = now();
      const kind = isMutating(info.verb) ? 'mutating' : 'readOnly';
      inFlight.add({ request_kind: kind }, 1);
      return (status) => {
        inFlight.add({ request_kind: kind }, -1);
        const labels = labelsOf(info);
        requests.add({ ...labels, code: String(status) });
        durations.observe(labels, (now() - start) / 1000);
      };
    },
  };
}

const isMutating = (verb: string): boolean => !['get', 'list', 'watch'].includes(verb);

/** Names of resources that were asked for but do not exist would let clients fill the memory: paths have none. */
function labelsOf(info: RequestInfo): Readonly<Record<string, string>> {
  if (info.kind === 'path')
    return { verb: info.verb.toUpperCase(), group: '', version: '', resource: '', subresource: '' };
  const { verb, group, version, resource, subresource } = info;
  return { verb: verb.toUpperCase(), group, version, resource, subresource };
}
