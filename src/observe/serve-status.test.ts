import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { serveStatus } from './serve-status.ts';

let problem: string | undefined;
const server = await serveStatus({
  host: '127.0.0.1',
  port: 0,
  metricsText: () => 'a 1\n',
  problem: () => problem,
});
after(() => server.close());

async function ask(path: string, method = 'GET'): Promise<readonly [number, string]> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method });
  return [response.status, await response.text()];
}

test('serveStatus() answers with what is counted and whether all is well', async () => {
  assert.deepEqual(await ask('/metrics'), [200, 'a 1\n']);
  for (const path of ['/healthz', '/livez', '/readyz?verbose']) {
    assert.deepEqual(await ask(path), [200, 'ok']);
  }
  problem = 'no lease';
  assert.deepEqual(await ask('/healthz'), [500, 'no lease\n']);
  assert.deepEqual(await ask('/metrics'), [200, 'a 1\n']);
});

test('serveStatus() serves nothing else', async () => {
  assert.deepEqual(await ask('/'), [404, '404 page not found\n']);
  assert.deepEqual(await ask('/metrics', 'POST'), [405, 'method not allowed\n']);
});

test('serveStatus() rejects when the port is taken', async () => {
  const taken = { host: '127.0.0.1', port: server.port, metricsText: () => '' };
  await assert.rejects(serveStatus(taken), { code: 'EADDRINUSE' });
});
