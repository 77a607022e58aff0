import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from '../observe/metrics.ts';
import {
  addProcessMetrics,
  createFlowMetrics,
  createRequestMetrics,
  type RouteMetrics,
} from './metrics.ts';
import { parseRequest } from './request/request-info.ts';

function measure(): {
  readonly of: (line: string) => RouteMetrics;
  readonly lines: (start: string) => readonly string[];
} {
  const registry = createMetrics();
  const metrics = createRequestMetrics({
    registry,
    isServed: ({ resource, subresource }) =>
      resource === 'services' && ['', 'status'].includes(subresource),
  });
  return {
    of(line) {
      const [method = '', path = ''] = line.split(' ');
      return metrics.of(parseRequest(method, path, new URLSearchParams()));
    },
    lines: (start) =>
      registry
        .text()
        .split('\n')
        .filter((line) => line.startsWith(start)),
  };
}

test('requests are counted by verb, resource, scope and status', () => {
  const { of, lines } = measure();
  of('GET /api/v1/services').answered(200, 0, 0);
  of('GET /api/v1/services').answered(200, 0, 0);
  of('PUT /api/v1/namespaces/a/services/b/status').answered(409, 0, 0);
  assert.deepEqual(lines('apiserver_request_total'), [
    'apiserver_request_total{verb="LIST",group="",version="v1",resource="services",subresource="",scope="cluster",component="apiserver",code="200"} 2',
    'apiserver_request_total{verb="UPDATE",group="",version="v1",resource="services",subresource="status",scope="resource",component="apiserver",code="409"} 1',
  ]);
});

test('reads and writes under way are counted apart', () => {
  const { of, lines } = measure();
  of('GET /api/v1/services').inFlight.value += 1;
  of('HEAD /healthz').inFlight.value += 1;
  of('POST /api/v1/namespaces/a/services').inFlight.value += 1;
  assert.deepEqual(lines('apiserver_current_inflight_requests'), [
    'apiserver_current_inflight_requests{request_kind="readOnly"} 2',
    'apiserver_current_inflight_requests{request_kind="mutating"} 1',
  ]);
});

test('durations and sizes are measured, sizes of reads only', () => {
  const { of, lines } = measure();
  of('GET /api/v1/services').answered(200, 0.07, 2_000);
  of('POST /api/v1/namespaces/a/services').answered(201, 0.01, 500);
  const labels =
    'verb="LIST",group="",version="v1",resource="services",subresource="",scope="cluster",component="apiserver"';
  const durations = 'apiserver_request_duration_seconds';
  for (const line of [
    `${durations}_sum{${labels}} 0.07`,
    `${durations}_bucket{${labels},le="0.05"} 0`,
    `${durations}_bucket{${labels},le="0.1"} 1`,
  ]) {
    assert.deepEqual(lines(line.split(' ')[0] ?? ''), [line]);
  }
  assert.deepEqual(lines('apiserver_response_sizes_count'), [
    `apiserver_response_sizes_count{${labels}} 1`,
  ]);
});

test('streams and requests that were broken off are counted', () => {
  const { of, lines } = measure();
  const watch = of('GET /api/v1/watch/services');
  watch.longRunning.value += 1;
  watch.watchEvents.value += 3;
  of('GET /api/v1/services').terminated(429);
  assert.match(lines('apiserver_longrunning_requests').join(), /verb="WATCH".* 1$/);
  assert.deepEqual(lines('apiserver_watch_events_total'), [
    'apiserver_watch_events_total{group="",version="v1",resource="services"} 3',
  ]);
  assert.match(lines('apiserver_request_terminations_total').join(), /verb="LIST".*code="429"} 1$/);
});

test('names that clients invent have no labels of their own', () => {
  const { of, lines } = measure();
  for (let i = 0; i < 10; i++) {
    of(`GET /apis/made-up-${i}/v1/unknown`).answered(404, 0, 0);
    of(`GET /api/v1/namespaces/a/services/b/made-up-${i}`).answered(404, 0, 0);
    of(`GET /made-up-${i}`).answered(404, 0, 0);
    of(`MADEUP${i} /api/v1/services`).answered(405, 0, 0);
  }
  const empty = 'group="",version="",resource="",subresource="",scope="",component="apiserver"';
  assert.deepEqual(lines('apiserver_request_total'), [
    `apiserver_request_total{verb="LIST",${empty},code="404"} 10`,
    `apiserver_request_total{verb="GET",${empty},code="404"} 20`,
    'apiserver_request_total{verb="OTHER",group="",version="v1",resource="services",subresource="",scope="cluster",component="apiserver",code="405"} 10',
  ]);
});

test('seats are counted under the names of priority and fairness', () => {
  const registry = createMetrics();
  const flow = createFlowMetrics(registry);
  flow.dispatched('exempt');
  flow.queued('mutating', 2);
  flow.queued('mutating', -1);
  flow.rejected('readOnly', 'queue-full');
  const text = registry.text();
  for (const line of [
    'apiserver_flowcontrol_dispatched_requests_total{priority_level="exempt",flow_schema="exempt"} 1',
    'apiserver_flowcontrol_current_inqueue_requests{priority_level="mutating",flow_schema="user"} 1',
    'apiserver_flowcontrol_rejected_requests_total{priority_level="readOnly",flow_schema="user",reason="queue-full"} 1',
  ]) {
    assert.ok(text.includes(`${line}\n`), line);
  }
});

test('the process is measured', () => {
  const registry = createMetrics();
  addProcessMetrics(registry, 1000);
  const text = registry.text();
  assert.match(text, /^process_start_time_seconds 1$/m);
  assert.match(text, /^# TYPE process_cpu_seconds_total counter$/m);
  assert.match(text, /^process_resident_memory_bytes [1-9]\d+$/m);
  assert.match(text, /^process_open_fds \d+$/m);
});
