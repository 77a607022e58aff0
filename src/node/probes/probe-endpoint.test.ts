import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { type TestContext, test } from 'node:test';
import { dialHost, probeGrpc, probeHttp, probeTcp } from './probe-endpoint.ts';
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

test('probeHttp() succeeds below 400 and tells the code of a failure', async (t) => {
  const server = createServer((request, response) => {
    response.writeHead(Number(request.url?.slice(1)));
    response.end(request.headers['user-agent']);
  });
  const port = await listen(t, server);
  const good = await probeHttp(target(port, '/301'), dialHost, never);
  assert.deepEqual(good, { outcome: 'success', output: 'kube-probe/1.36' });
  const bad = await probeHttp(target(port, '503'), dialHost, never);
  assert.deepEqual(bad, { outcome: 'failure', output: 'HTTP probe failed with statuscode: 503' });
});

test('where nobody listens, http and tcp say so', async (t) => {
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

test('an answer that does not come in time is a failure', async (t) => {
  const port = await listen(t, createServer());
  const ending = new AbortController();
  const probing = probeHttp(target(port, '/'), dialHost, ending.signal);
  ending.abort();
  await assert.rejects(probing, /context deadline exceeded/);
});

test('probeGrpc() asks the health service', async (t) => {
  const server = createHttp2Server();
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      const service = Buffer.concat(chunks).subarray(7).toString();
      const isKnown = headers[':path'] === '/grpc.health.v1.Health/Check';
      stream.respond(
        { ':status': 200, 'content-type': 'application/grpc' },
        { waitForTrailers: true },
      );
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': isKnown ? '0' : '12' }));
      stream.end(Buffer.from([0, 0, 0, 0, 2, 8, service === 'down' ? 2 : 1]));
    });
  });
  const port = await listen(t, server);
  const ask = (service: string) => probeGrpc({ host, port, service }, dialHost, never);
  assert.equal((await ask('')).outcome, 'success');
  assert.equal((await ask('up')).outcome, 'success');
  assert.deepEqual(await ask('down'), {
    outcome: 'failure',
    output: 'service unhealthy (responded with "NOT_SERVING")',
  });
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
