import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from '../observe/metrics.ts';
import { createRequestMetrics, type RequestMetrics } from './metrics.ts';
import { parseRequest } from './request-info.ts';

function measure(): {
  readonly started: (line: string) => ReturnType<RequestMetrics['started']>;
  readonly lines: (start: string) => readonly string[];
  readonly pass: (ms: number) => void;
} {
  let now = 0;
  const registry = createMetrics();
  const metrics = createRequestMetrics({
    registry,
    now: () => now,
    isServed: ({ resource, subresource }) =>
      resource === 'services' && ['', 'status'].includes(subresource),
  });
  return {
    started(line) {
      const [method = '', path = ''] = line.split(' ');
      return metrics.started(parseRequest(method, path, new URLSearchParams()));
    },
    lines: (start) =>
      registry
        .text()
        .split('\n')
        .filter((line) => line.startsWith(start)),
    pass: (ms) => {
      now += ms;
    },
  };
}

test('requests are counted by verb, resource and status', () => {
  const { started, lines } = measure();
  started('GET /api/v1/services')(200);
  started('GET /api/v1/services')(200);
  started('PUT /api/v1/namespaces/a/services/b/status')(409);
  assert.deepEqual(lines('apiserver_request_total'), [
    'apiserver_request_total{verb="LIST",group="",version="v1",resource="services",subresource="",code="200"} 2',
    'apiserver_request_total{verb="UPDATE",group="",version="v1",resource="services",subresource="status",code="409"} 1',
  ]);
});

test('requests under way are counted until they are answered', () => {
  const { started, lines } = measure();
  const read = started('GET /api/v1/services');
  const write = started('POST /api/v1/namespaces/a/services');
  const inFlight = (): readonly string[] => lines('apiserver_current_inflight_requests');
  assert.deepEqual(inFlight(), [
    'apiserver_current_inflight_requests{request_kind="readOnly"} 1',
    'apiserver_current_inflight_requests{request_kind="mutating"} 1',
  ]);
  read(200);
  write(201);
  assert.deepEqual(inFlight(), [
    'apiserver_current_inflight_requests{request_kind="readOnly"} 0',
    'apiserver_current_inflight_requests{request_kind="mutating"} 0',
  ]);
});

test('durations are measured in seconds', () => {
  const { started, lines, pass } = measure();
  const finished = started('GET /api/v1/services');
  pass(70);
  finished(200);
  const labels = 'verb="LIST",group="",version="v1",resource="services",subresource=""';
  const [line] = lines(`apiserver_request_duration_seconds_sum{${labels}}`);
  assert.equal(line, `apiserver_request_duration_seconds_sum{${labels}} 0.07`);
  assert.deepEqual(lines(`apiserver_request_duration_seconds_bucket{${labels},le="0.05"}`), [
    `apiserver_request_duration_seconds_bucket{${labels},le="0.05"} 0`,
  ]);
  assert.deepEqual(lines(`apiserver_request_duration_seconds_bucket{${labels},le="0.1"}`), [
    `apiserver_request_duration_seconds_bucket{${labels},le="0.1"} 1`,
  ]);
});

test('what clients make up has no labels of its own', () => {
  const { started, lines } = measure();
  for (let i = 0; i < 10; i++) {
    started(`GET /apis/made-up-${i}/v1/things`)(404);
    started(`GET /api/v1/namespaces/a/services/b/made-up-${i}`)(404);
    started(`GET /made-up-${i}`)(404);
    started(`MADEUP${i} /api/v1/services`)(405);
  }
  const empty = 'group="",version="",resource="",subresource=""';
  assert.deepEqual(lines('apiserver_request_total'), [
    `apiserver_request_total{verb="LIST",${empty},code="404"} 10`,
    `apiserver_request_total{verb="GET",${empty},code="404"} 20`,
    'apiserver_request_total{verb="OTHER",group="",version="v1",resource="services",subresource="",code="405"} 10',
  ]);
});
