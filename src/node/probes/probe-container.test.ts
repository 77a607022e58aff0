import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { type TestContext, test } from 'node:test';
import { decodeMessage } from '../../schema/protobuf/message-fields.ts';
import { dialHost, probeGrpc, probeHttp, probeTcp } from './probe-container.ts';
import { httpTarget } from './probe-target.ts';

const host = '127.0.0.1';
const never = new AbortController().signal;

async function listen(t: TestContext, server: Server): Promise<number> {
  server.listen(0, host);
  await once(server, 'listening');
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

function target(port: number, path: string) {
  return httpTarget({ port, path }, {}, { podIP: host, userAgent: 'kube-probe/1.36' });
}

test('probeHttp() succeeds below 400 and reports the status code of a failure', async (t) => {
  const server = createServer((request, response) => {
    response.writeHead(Number(request.url?.slice(1)));
    response.end(request.headers['user-agent']);
  });
  const port = await listen(t, server);
  const good = await probeHttp(target(port, '/204'), dialHost, never);
  assert.deepEqual(good, { outcome: 'success', output: '' });
  const moved = await probeHttp(target(port, '/301'), dialHost, never);
  assert.deepEqual(moved, {
    outcome: 'warning',
    output: 'Probe terminated redirects, Response body: kube-probe/1.36',
  });
  const bad = await probeHttp(target(port, '503'), dialHost, never);
  assert.deepEqual(bad, { outcome: 'failure', output: 'HTTP probe failed with statuscode: 503' });
});

test('probeHttp() follows redirects within the host', async (t) => {
  const paths: string[] = [];
  const answers: Readonly<Record<string, readonly [number, string?]>> = {
    '/old': [302, '/new'],
    '/new': [200],
    '/down': [302, '/broken'],
    '/broken': [500],
    '/loop': [302, '/loop'],
    '/away': [302, 'http://other.invalid/'],
  };
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    paths.push(path);
    const [status, location] = answers[path] ?? [404];
    response.writeHead(status, location === undefined ? {} : { location });
    response.end(path);
  });
  const port = await listen(t, server);
  const probe = (path: string) => probeHttp(target(port, path), dialHost, never);
  assert.deepEqual(await probe('/old'), { outcome: 'success', output: '/new' });
  assert.deepEqual(await probe('/down'), {
    outcome: 'failure',
    output: 'HTTP probe failed with statuscode: 500',
  });
  assert.equal((await probe('/away')).outcome, 'warning');
  paths.length = 0;
  await assert.rejects(probe('/loop'), {
    message: `Get "http://127.0.0.1:${port}/loop": stopped after 10 redirects`,
  });
  assert.equal(paths.length, 10);
});

test('probeHttp() and probeTcp() report a refused connection', async (t) => {
  const server = createServer();
  const port = await listen(t, server);
  assert.equal((await probeTcp(host, port, dialHost, never)).outcome, 'success');
  server.close();
  await once(server, 'close');
  const refused = `dial tcp 127.0.0.1:${port}: connect: connection refused`;
  assert.deepEqual(await probeTcp(host, port, dialHost, never), {
    outcome: 'failure',
    output: refused,
  });
  await assert.rejects(probeHttp(target(port, '/'), dialHost, never), {
    message: `Get "http://127.0.0.1:${port}/": ${refused}`,
  });
});

test('probeHttp() reports a timeout', async (t) => {
  const port = await listen(t, createServer());
  const timeout = new AbortController();
  const probing = probeHttp(target(port, '/'), dialHost, timeout.signal);
  timeout.abort();
  await assert.rejects(probing, /context deadline exceeded/);
});

async function listenGrpc(t: TestContext): Promise<number> {
  const server = createHttp2Server();
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('error', () => {}); // A client may reset it.
    stream.on('end', () => {
      const service = String(decodeMessage(Buffer.concat(chunks).subarray(5)).bytes(1) ?? '');
      if (service === 'silent') return;
      const isKnown = headers[':path'] === '/grpc.health.v1.Health/Check' && service !== 'other';
      stream.respond(
        { ':status': 200, 'content-type': 'application/grpc' },
        { waitForTrailers: true },
      );
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': isKnown ? '0' : '5' }));
      stream.end(isKnown ? Buffer.from([0, 0, 0, 0, 2, 8, service === 'down' ? 2 : 1]) : undefined);
    });
  });
  return listen(t, server);
}

test('probeGrpc() calls the health service', async (t) => {
  const port = await listenGrpc(t);
  const probe = (service: string) => probeGrpc({ host, port, service }, dialHost, never);
  const healthy = { outcome: 'success', output: 'service healthy' };
  assert.deepEqual(await probe(''), healthy);
  assert.deepEqual(await probe('up'), healthy);
  assert.deepEqual(await probe('up'.repeat(100)), healthy);
  assert.deepEqual(await probe('down'), {
    outcome: 'failure',
    output: 'service unhealthy (responded with "NOT_SERVING")',
  });
  assert.deepEqual(await probe('other'), {
    outcome: 'failure',
    output: 'service unhealthy: rpc error: code = NotFound',
  });
});

test('probeGrpc() reports a refused connection and an expired timeout', async (t) => {
  const server = createServer();
  const closedPort = await listen(t, server);
  server.close();
  const refused = await probeGrpc({ host, port: closedPort, service: '' }, dialHost, never);
  const where = `${host}:${closedPort}`;
  assert.deepEqual(refused, {
    outcome: 'failure',
    output: `error: failed to connect service "${where}": dial tcp ${where}: connect: connection refused`,
  });
  const port = await listenGrpc(t);
  const timeout = new AbortController();
  const probing = probeGrpc({ host, port, service: 'silent' }, dialHost, timeout.signal);
  timeout.abort();
  assert.match((await probing).output, /context deadline exceeded/);
});

test('httpTarget() finds a port by its name', () => {
  const ports = [{ name: 'web', containerPort: 8080, protocol: 'TCP' }];
  const action = { port: 'web', scheme: 'HTTPS', httpHeaders: [{ name: 'X-A', value: '1' }] };
  const found = httpTarget(action, { ports }, { podIP: '10.0.0.1', userAgent: 'a' });
  assert.deepEqual(
    [found.scheme, found.port, found.path, found.headers['x-a']],
    ['https', 8080, '/', '1'],
  );
  assert.throws(
    () => httpTarget({ port: 'no' }, { ports }, { podIP: '', userAgent: '' }),
    /couldn't find port: no/,
  );
});
