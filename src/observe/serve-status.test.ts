import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { reportMetrics, reportOk, sendText, serveStatus } from './serve-status.ts';

const routes = {
  '/healthz': reportOk,
  '/metrics': reportMetrics(() => 'a 1\n'),
  '/broken': reportMetrics(() => Promise.reject(new Error('worker has exited'))),
};
const server = await serveStatus({ host: '127.0.0.1', port: 0, routes });
after(() => server.close());

type Answer = readonly [status: number, text: string, type: string | null];

async function request(path: string, method = 'GET', port = server.port): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method });
  return [response.status, await response.text(), response.headers.get('content-type')];
}

const text = 'text/plain; charset=utf-8';

test('serveStatus() routes by path and ignores the query', async () => {
  assert.deepEqual(await request('/healthz'), [200, 'ok', text]);
  assert.deepEqual(await request('/healthz?verbose'), [200, 'ok', text]);
  assert.deepEqual(await request('/healthz', 'HEAD'), [200, '', text]);
  assert.deepEqual(await request('/'), [404, '404 page not found\n', text]);
  assert.deepEqual(await request('/constructor'), [404, '404 page not found\n', text]);
});

test('serveStatus() refuses other methods than GET and HEAD unless they are allowed', async () => {
  assert.deepEqual(await request('/metrics', 'POST'), [405, 'method not allowed\n', text]);
  const any = await serveStatus({ host: '127.0.0.1', port: 0, routes, allowsAnyMethod: true });
  try {
    assert.deepEqual(await request('/healthz', 'OPTIONS', any.port), [200, 'ok', text]);
  } finally {
    await any.close();
  }
});

test('serveStatus() hands all other paths to the fallback', async () => {
  const fallback: typeof reportOk = (response) => sendText(response, 503, 'not ready\n');
  const other = await serveStatus({ host: '127.0.0.1', port: 0, routes, fallback });
  try {
    assert.deepEqual(await request('/any/path', 'GET', other.port), [503, 'not ready\n', text]);
  } finally {
    await other.close();
  }
});

test('reportMetrics() answers 500 when the metrics cannot be read', async () => {
  const metricsType = 'text/plain; version=0.0.4; charset=utf-8';
  assert.deepEqual(await request('/metrics'), [200, 'a 1\n', metricsType]);
  const [status, reason] = await request('/broken');
  assert.deepEqual([status, reason], [500, 'Cannot read the metrics: worker has exited\n']);
});

test('serveStatus() rejects when the port is in use', async () => {
  const { port } = server;
  await assert.rejects(serveStatus({ host: '127.0.0.1', port, routes }), { code: 'EADDRINUSE' });
});
