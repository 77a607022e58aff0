// The client over HTTP/2: connections are shared, a silent server is asked by pings, and one that is gone is noticed.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  createSecureServer,
  type Http2SecureServer,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { createServer } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { HttpTransport, TransportLimits } from '../../../src/client/exchange.ts';
import { createHttpTransport } from '../../../src/client/http-transport.ts';
import type { TransportResponse } from '../../../src/client/transport.ts';
import { testCredentials } from '../harness/memory-server.ts';

const limit = { timeout: 60_000 };
const { authority, server: pair, administrator } = testCredentials();
const tls = { key: pair.privateKey, cert: pair.certificate, ca: authority.certificate };
const watchPath = '/api/v1/pods?watch=true';

type Running = {
  readonly server: Http2SecureServer;
  readonly sessions: ServerHttp2Session[];
  readonly port: number;
};

async function serve(
  t: TestContext,
  answer: (stream: ServerHttp2Stream, path: string) => void,
  settings = {},
): Promise<Running> {
  const server = createSecureServer({
    ...tls,
    requestCert: true,
    rejectUnauthorized: false,
    settings,
  });
  const sessions: ServerHttp2Session[] = [];
  server.on('session', (session) => {
    sessions.push(session);
    session.on('error', () => {});
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    answer(stream, String(headers[':path']));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  return { server, sessions, port: (server.address() as AddressInfo).port };
}

function open(t: TestContext, port: number, limits: Partial<TransportLimits> = {}): HttpTransport {
  const transport = createHttpTransport(
    {
      server: `https://127.0.0.1:${port}`,
      namespace: 'default',
      certificateAuthority: authority.certificate,
      clientCertificate: administrator.certificate,
      clientKey: administrator.privateKey,
      skipTlsVerification: false,
    },
    limits,
  );
  t.after(() => transport.close());
  return transport;
}

const textOf = async ({ body }: TransportResponse): Promise<string> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

test('requests share a connection, and bodies come back whole', limit, async (t) => {
  const { sessions, port } = await serve(t, (stream, path) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      stream.respond({ ':status': 201, warning: '299 - "w"' });
      stream.end(`${path} ${Buffer.concat(chunks)}`);
    });
  });
  const transport = open(t, port);
  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const answer = await transport.send({ method: 'POST', path: `/${index}`, body: `ü${index}` });
      assert.equal(answer.status, 201);
      assert.equal(answer.headers.warning, '299 - "w"');
      return textOf(answer);
    }),
  );
  assert.deepEqual(
    answers,
    answers.map((_, index) => `/${index} ü${index}`),
  );
  assert.equal(sessions.length, 1);
});

test('what shows a token goes over a connection without the certificate', limit, async (t) => {
  const seen: unknown[] = [];
  const { port } = await serve(t, (stream) => {
    const { socket } = stream.session as unknown as { socket: { getPeerCertificate(): object } };
    seen.push([
      Object.keys(socket.getPeerCertificate() ?? {}).length > 0,
      stream.sentHeaders === undefined,
    ]);
    stream.respond({ ':status': 200 });
    stream.end();
  });
  const transport = open(t, port);
  await textOf(await transport.send({ method: 'GET', path: '/' }));
  await textOf(await transport.send({ method: 'GET', path: '/', token: 't' }));
  assert.deepEqual(
    seen.map((one) => (one as readonly unknown[])[0]),
    [true, false],
  );
});

test('a watch on which nothing comes goes on while pings are answered', limit, async (t) => {
  let pings = 0;
  let quiet: ServerHttp2Stream | undefined;
  const { server, port } = await serve(t, (stream) => {
    quiet = stream;
    stream.respond({ ':status': 200 });
  });
  server.on('session', (session) =>
    session.on('ping', () => {
      pings += 1;
      // Silent for several times the limit, and only then does something happen.
      if (pings === 4) quiet?.end('event');
    }),
  );
  const transport = open(t, port, { readIdleMs: 30, pingTimeoutMs: 20_000 });
  assert.equal(await textOf(await transport.send({ method: 'GET', path: watchPath })), 'event');
  assert.equal(pings, 4);
});

test('a connection that is busy is not pinged', limit, async (t) => {
  let pings = 0;
  const { server, port } = await serve(t, (stream) => {
    stream.respond({ ':status': 200 });
    let left = 40;
    const timer = setInterval(() => {
      left -= 1;
      stream.write('event');
      if (left > 0) return;
      clearInterval(timer);
      stream.end();
    }, 5);
  });
  server.on('session', (session) => session.on('ping', () => (pings += 1)));
  const transport = open(t, port, { readIdleMs: 20_000, pingTimeoutMs: 20_000 });
  await textOf(await transport.send({ method: 'GET', path: watchPath }));
  assert.equal(pings, 0);
});

test('a watch ends when the network swallows all packets', limit, async (t) => {
  const { port } = await serve(t, (stream) => stream.respond({ ':status': 200 }));
  const sockets: Socket[] = [];
  let isSwallowing = false;
  const between = createTcpServer((near) => {
    const far = connect(port, '127.0.0.1');
    sockets.push(near, far);
    near.on('data', (chunk) => isSwallowing || far.write(chunk));
    far.on('data', (chunk) => isSwallowing || near.write(chunk));
    for (const socket of [near, far]) socket.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(between, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    between.close();
  });
  const transport = open(t, (between.address() as AddressInfo).port, {
    readIdleMs: 30,
    pingTimeoutMs: 1000,
  });
  const watch = await transport.send({ method: 'GET', path: watchPath });
  isSwallowing = true;
  await assert.rejects(textOf(watch), /No response from https:\/\/127\.0\.0\.1:\d+ for 1\.03 s/);
  // The next request comes over a new connection, once there is a network again.
  isSwallowing = false;
  assert.equal((await transport.send({ method: 'GET', path: watchPath })).status, 200);
});

test('a server that ends its connections in order loses no request', limit, async (t) => {
  const open0: ServerHttp2Stream[] = [];
  const { sessions, port } = await serve(t, (stream, path) => {
    stream.respond({ ':status': 200 });
    if (path === watchPath) open0.push(stream);
    else stream.end('ok');
  });
  const transport = open(t, port);
  const watch = await transport.send({ method: 'GET', path: watchPath });
  const reading = textOf(watch);
  for (let round = 0; round < 20; round += 1) {
    sessions.at(-1)?.close();
    assert.equal(await textOf(await transport.send({ method: 'GET', path: `/${round}` })), 'ok');
  }
  for (const stream of open0) stream.end('last');
  assert.equal(await reading, 'last');
});

test('more requests than a connection takes go over another one', limit, async (t) => {
  const waiting: ServerHttp2Stream[] = [];
  const { sessions, port } = await serve(
    t,
    (stream) => {
      stream.respond({ ':status': 200 });
      waiting.push(stream);
      if (waiting.length === 30) for (const one of waiting) one.end('ok');
    },
    { maxConcurrentStreams: 10 },
  );
  const transport = open(t, port);
  // The first learns what the server takes.
  const first = await transport.send({ method: 'GET', path: watchPath });
  const others = Array.from({ length: 29 }, () => transport.send({ method: 'GET', path: '/' }));
  const texts = await Promise.all([first, ...others].map(async (one) => textOf(await one)));
  assert.deepEqual(new Set(texts), new Set(['ok']));
  assert.ok(sessions.length >= 3, `${sessions.length} connections`);
});

test('an aborted request ends, before and after its answer', limit, async (t) => {
  const { port } = await serve(t, (stream, path) => {
    if (path === '/never') return;
    stream.respond({ ':status': 200 });
    stream.write('first');
  });
  const transport = open(t, port);
  for (const path of ['/never', watchPath]) {
    const stop = new AbortController();
    const answer = transport.send({ method: 'GET', path, signal: stop.signal });
    if (path === '/never') setImmediate(() => stop.abort());
    await assert.rejects(
      async () => {
        for await (const chunk of (await answer).body) {
          assert.equal(Buffer.from(chunk).toString(), 'first');
          stop.abort();
        }
      },
      { name: 'AbortError' },
    );
  }
  const done = AbortSignal.abort();
  await assert.rejects(transport.send({ method: 'GET', path: '/', signal: done }), {
    name: 'AbortError',
  });
});

test('a request that is not answered for long fails; a watch does not', limit, async (t) => {
  const { port } = await serve(t, (stream, path) => {
    if (path !== watchPath) return;
    stream.respond({ ':status': 200 });
    held.push(stream);
  });
  const held: ServerHttp2Stream[] = [];
  const transport = open(t, port, { silenceMs: 50 });
  const watch = await transport.send({ method: 'GET', path: watchPath });
  await assert.rejects(transport.send({ method: 'GET', path: '/' }), /No response .* for 0\.05 s/);
  for (const stream of held) stream.end('still');
  assert.equal(await textOf(watch), 'still');
});

test('a server that speaks HTTP/1.1 alone is asked in that', limit, async (t) => {
  const server = createServer(tls, (request, response) =>
    response.end(`${request.httpVersion} ${request.headers.authorization ?? ''}`),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const transport = open(t, (server.address() as AddressInfo).port);
  assert.equal(await textOf(await transport.send({ method: 'GET', path: '/' })), '1.1 ');
  const shown = await transport.send({ method: 'GET', path: '/', token: 't' });
  assert.equal(await textOf(shown), '1.1 Bearer t');
});

test('a refused connection: the request was never sent', limit, async (t) => {
  const transport = open(t, 1);
  await assert.rejects(transport.send({ method: 'GET', path: '/' }), {
    code: 'ECONNREFUSED',
    syscall: 'connect',
  });
});
