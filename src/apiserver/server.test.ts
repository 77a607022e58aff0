// The listener over real TLS on loopback, with both versions of HTTP.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientHttp2Session, connect, constants } from 'node:http2';
import { Agent, request as httpsRequest } from 'node:https';
import { after, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { isApiError } from '../meta/api-error.ts';
import { type Log, silentLog } from '../observe/log.ts';
import {
  issueClientCertificate,
  issueServerCertificate,
  makeAuthority,
} from './certificates/authority.ts';
import type { ApiRequest, ApiResponse, Sink } from './message.ts';
import { type RunningServer, startServer } from './server.ts';

const now = Date.now();
const authority = makeAuthority(now);
const { certificate: cert, privateKey: key } = issueServerCertificate(authority, {
  names: ['localhost', '127.0.0.1'],
  now,
});
const person = { commonName: 'jane', organizations: ['one', 'two'], days: 1, now };
const jane = issueClientCertificate(authority, person);
const stranger = issueClientCertificate(makeAuthority(now), person);

type Handle = (request: ApiRequest) => Promise<ApiResponse>;

function start(handle: Handle, log: Log = silentLog): Promise<RunningServer> {
  const tls = { key, cert, ca: authority.certificate };
  return startServer({ host: '127.0.0.1', port: 0, tls, handle, log });
}

type Asked = {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: Buffer;
};
type Got = {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
};
type Client = {
  readonly send: (asked: Asked) => Promise<Got>;
  /** The stream of an answer, its head received. */
  readonly open: (asked: Asked) => Promise<NodeJS.ReadableStream & { destroy(): void }>;
  readonly close: () => void;
};
type Identity = { readonly certificate: string; readonly privateKey: string };

async function readText(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

const identify = (identity: Identity | undefined) =>
  identity === undefined ? {} : { cert: identity.certificate, key: identity.privateKey };

function client1({ address }: RunningServer, identity?: Identity): Client {
  const agent = new Agent({ keepAlive: true, ca: authority.certificate, ...identify(identity) });
  const ask = async ({ method = 'GET', path = '/', headers = {}, body }: Asked) => {
    const { port } = address;
    const request = httpsRequest({ host: '127.0.0.1', port, method, path, headers, agent });
    // A server may answer and hang up before everything is sent.
    request.end(body);
    const [response] = await once(request, 'response');
    request.on('error', () => {});
    return response as import('node:http').IncomingMessage;
  };
  return {
    async send(asked) {
      const response = await ask(asked);
      const { statusCode: status = 0, headers } = response;
      return { status, headers, text: await readText(response) };
    },
    open: ask,
    close: () => agent.destroy(),
  };
}

function client2({ address }: RunningServer, identity?: Identity): Client {
  const session: ClientHttp2Session = connect(`https://127.0.0.1:${address.port}`, {
    ca: authority.certificate,
    ...identify(identity),
    // So that a test may send and hold back more than Node thinks wise.
    maxSessionMemory: 1024,
  });
  session.on('error', () => {});
  const ask = async ({ method = 'GET', path = '/', headers = {}, body }: Asked) => {
    const head = { ':method': method, ':path': path, ...headers };
    const stream = session.request(head, { endStream: body === undefined });
    if (body !== undefined) stream.end(body);
    const [answer] = await once(stream, 'response');
    stream.on('error', () => {});
    return { stream, headers: answer as Record<string, unknown> };
  };
  return {
    async send(asked) {
      const { stream, headers } = await ask(asked);
      return { status: Number(headers[':status']), headers, text: await readText(stream) };
    },
    open: async (asked) => (await ask(asked)).stream,
    close: () => session.destroy(),
  };
}

const text = (body: string): ApiResponse => ({
  status: 200,
  headers: { 'content-type': 'text/plain' },
  body,
});

/** Answers with a status where reading throws one, as the handler does. */
async function readBody(request: ApiRequest): Promise<ApiResponse> {
  try {
    return text(String((await request.body()).length));
  } catch (error) {
    if (!isApiError(error)) throw error;
    return { status: error.status.code, headers: {}, body: error.message };
  }
}

type Watching = { readonly sink: Sink; readonly request: ApiRequest };

/** A server of streams, each of which the test gets. */
async function startStreams(): Promise<{
  readonly server: RunningServer;
  readonly next: () => Promise<Watching>;
}> {
  const started: Watching[] = [];
  const waiting: ((watching: Watching) => void)[] = [];
  const server = await start(async (request) => ({
    status: 200,
    headers: {},
    body: {
      start(sink) {
        const take = waiting.shift();
        if (take === undefined) started.push({ sink, request });
        else take({ sink, request });
      },
    },
  }));
  const next = (): Promise<Watching> => {
    const [first] = started.splice(0, 1);
    return first === undefined
      ? new Promise((resolve) => waiting.push(resolve))
      : Promise.resolve(first);
  };
  return { server, next };
}

type Http = {
  readonly version: string;
  readonly open: typeof client1;
  /** A client that is closed in the end, and its server with it. */
  readonly connectTo: typeof client1;
};

const timeout = 30_000;
const closing: (() => unknown)[] = [];
after(async () => {
  for (const close of closing) await close();
});

function testRequests({ version, connectTo }: Http): void {
  test(`${version}: a request arrives whole and its answer goes back`, { timeout }, async () => {
    let seen: ApiRequest | undefined;
    const server = await start(async (request) => {
      seen = request;
      const body = Buffer.from(await request.body());
      return { status: 201, headers: { 'x-a': 'b' }, body: Buffer.concat([body, body]) };
    });
    const got = await connectTo(server).send({
      method: 'POST',
      path: '/a%2Fb?x=1&x=2&y=%20',
      headers: { 'content-type': 'c' },
      body: Buffer.from('twice'),
    });
    assert.equal(got.status, 201);
    assert.equal(got.text, 'twicetwice');
    assert.equal(got.headers['x-a'], 'b');
    assert.equal(got.headers['content-length'], '10');
    assert.equal(seen?.method, 'POST');
    assert.equal(seen?.path, '/a%2Fb');
    assert.deepEqual(
      [...(seen?.query ?? [])],
      [
        ['x', '1'],
        ['x', '2'],
        ['y', ' '],
      ],
    );
    assert.equal(seen?.headers['content-type'], 'c');
  });

  test(`${version}: the head of an answer comes without its body`, { timeout }, async () => {
    const got = await connectTo(await start(async () => text('12345'))).send({ method: 'HEAD' });
    assert.equal(got.status, 200);
    assert.equal(got.headers['content-length'], '5');
    assert.equal(got.text, '');
  });

  test(`${version}: certificates say who asks`, { timeout }, async () => {
    const server = await start(async ({ peer }) => text(JSON.stringify(peer)));
    const peerOf = async (identity?: Identity): Promise<unknown> =>
      JSON.parse((await connectTo(server, identity).send({})).text);
    const address = '127.0.0.1';
    const certificate = { commonName: 'jane', organizations: ['one', 'two'] };
    assert.deepEqual(await peerOf(jane), { address, certificate });
    assert.deepEqual(await peerOf(stranger), { address, untrustedCertificate: true });
    assert.deepEqual(await peerOf(), { address });
  });
}

function testLimits({ version, connectTo }: Http): void {
  test(`${version}: a body may have three megabytes and not one byte more`, {
    timeout,
  }, async () => {
    const client = connectTo(await start(readBody));
    const limit = 3 * 1024 * 1024;
    const post = (size: number): Promise<Got> =>
      client.send({ method: 'POST', body: Buffer.alloc(size) });
    assert.equal((await post(limit)).text, String(limit));
    const refused = { status: 413, text: `Request entity too large: limit is ${limit}` };
    const { status, text: why } = await post(limit + 1);
    assert.deepEqual({ status, text: why }, refused);
    const large = await post(16 * limit);
    assert.deepEqual({ status: large.status, text: large.text }, refused);
    assert.equal((await post(1)).text, '1', 'the next request is answered');
  });

  test(`${version}: repeated impersonation headers stay apart`, { timeout }, async () => {
    const server = await start(async ({ headers }) => text(JSON.stringify(headers)));
    const { text: seen } = await connectTo(server).send({
      headers: {
        'Impersonate-Group': ['a, b', 'c'],
        'impersonate-user': 'x',
        accept: ['d', 'e'],
      },
    });
    const headers = JSON.parse(seen);
    assert.deepEqual(headers['impersonate-group'], ['a, b', 'c']);
    assert.deepEqual(headers['impersonate-user'], ['x']);
    assert.equal(headers.accept, 'd, e');
  });

  test(`${version}: warnings go out one by one and in UTF-8`, { timeout }, async () => {
    const warning = ['299 - "é日"', '299 - "b"'];
    const server = await start(async () => ({ ...text(''), headers: { warning } }));
    const { headers } = await connectTo(server).send({});
    const seen = Buffer.from(String(headers.warning), 'latin1').toString('utf8');
    assert.equal(seen, warning.join(', '));
  });

  test(`${version}: an answer that cannot be written costs only its request`, {
    timeout,
  }, async () => {
    const logged: string[] = [];
    const log: Log = { ...silentLog, error: (message) => logged.push(message) };
    const server = await start(async ({ path }) => {
      if (path === '/broken') throw new Error('broken');
      return text('fine');
    }, log);
    assert.equal((await connectTo(server).send({ path: '/broken' })).status, 500);
    assert.equal((await connectTo(server).send({})).text, 'fine');
    assert.deepEqual(logged, ['cannot answer']);
  });
}

function testStreams({ version, connectTo }: Http): void {
  test(`${version}: the head of a stream comes before anything is written to it`, {
    timeout,
  }, async () => {
    const { server, next } = await startStreams();
    const stream = await connectTo(server).open({});
    const { sink } = await next();
    sink.write(Buffer.from('one'));
    const [first] = await once(stream, 'data');
    assert.equal(String(first), 'one');
    sink.write(Buffer.from('two'));
    sink.end();
    sink.write(Buffer.from('after the end'));
    assert.equal(await readText(stream), 'two');
  });

  test(`${version}: a stream whose reader goes is closed`, { timeout }, async () => {
    const { server, next } = await startStreams();
    const stream = await connectTo(server).open({});
    const { sink, request } = await next();
    const closed = new Promise<void>((resolve) => sink.onClose(resolve));
    stream.destroy();
    await closed;
    await new Promise<void>((resolve) => {
      if (request.signal.aborted) resolve();
      request.signal.addEventListener('abort', () => resolve());
    });
    sink.write(Buffer.from('nobody is there'));
    let told = false;
    sink.onClose(() => {
      told = true;
    });
    assert.ok(told, 'who asks late is told at once');
  });

  test(`${version}: a reader that does not read is seen, and gets all when it does`, {
    timeout,
  }, async () => {
    const { server, next } = await startStreams();
    const stream = await connectTo(server).open({});
    stream.pause();
    const { sink } = await next();
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    const size = 24 * 1024 * 1024;
    let written = 0;
    for (; written < size; written += chunk.length) {
      sink.write(chunk);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok(sink.buffered() > 8 * 1024 * 1024, `${sink.buffered()} bytes wait`);
    sink.end();
    assert.equal((await readText(stream)).length, written);
  });

  test(`${version}: a reader that does not read leaves others on its connection alone`, {
    timeout,
  }, async () => {
    const { server, next } = await startStreams();
    const client = connectTo(server);
    const stream = await client.open({});
    stream.pause();
    const { sink } = await next();
    sink.write(Buffer.alloc(24 * 1024 * 1024));
    const other = client.open({});
    (await next()).sink.end();
    assert.equal(await readText(await other), '');
  });
}

function testDrain({ version, open }: Http): void {
  test(`${version}: drain() lets requests finish and then refuses more`, { timeout }, async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let arrived = (): void => {};
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const server = await start(async () => {
      arrived();
      await held;
      return text('finished');
    });
    const client = open(server);
    const answer = client.send({});
    await arrival;
    const drained = server.drain();
    release();
    assert.equal((await answer).text, 'finished');
    await drained;
    await assert.rejects(open(server).send({}));
    client.close();
  });

  test(`${version}: drain() ends streams, and those that still come`, { timeout }, async () => {
    const { server, next } = await startStreams();
    const client = open(server);
    const [first, second] = await Promise.all([client.open({}), client.open({})]);
    const { sink } = await next();
    await next();
    sink.write(Buffer.from('last words'));
    const begin = Date.now();
    const drained = server.drain();
    const texts = await Promise.all([readText(first), readText(second)]);
    assert.deepEqual(texts.sort(), ['', 'last words']);
    await drained;
    assert.ok(Date.now() - begin < 5_000, 'it does not wait for what has ended');
    client.close();
  });
}

for (const [version, open] of [
  ['HTTP/1.1', client1],
  ['HTTP/2', client2],
] as const) {
  const connectTo = (server: RunningServer, identity?: Identity): Client => {
    const client = open(server, identity);
    closing.push(client.close, server.drain);
    return client;
  };
  const http: Http = { version, open, connectTo };
  testRequests(http);
  testLimits(http);
  testStreams(http);
  testDrain(http);
}

for (const name of ['NGHTTP2_NO_ERROR', 'NGHTTP2_CANCEL'] as const) {
  test(`HTTP/2: a stream reset with ${name} is closed, also with something unread`, {
    timeout,
  }, async () => {
    const { server, next } = await startStreams();
    const options = { ca: authority.certificate };
    const session = connect(`https://127.0.0.1:${server.address.port}`, options);
    const stream = session.request({});
    await once(stream, 'response');
    stream.on('error', () => {});
    const { sink } = await next();
    const closed = new Promise<void>((resolve) => sink.onClose(resolve));
    sink.write(Buffer.alloc(1024 * 1024));
    stream.close(constants[name]);
    await closed;
    const begin = Date.now();
    session.close();
    await server.drain();
    assert.ok(Date.now() - begin < 5_000, 'nothing is left to wait for');
  });
}

test('drain() ends a watch that a kept connection starts meanwhile', {
  timeout: 30_000,
}, async () => {
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let arrived = (): void => {};
  const arrival = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const server = await start(async ({ path }) => {
    if (path === '/slow') {
      arrived();
      await held;
      return text('slow');
    }
    if (path === '/first') return text('first');
    return { status: 200, headers: {}, body: { start: (sink) => sink.write(Buffer.from('hi')) } };
  });
  const slow = client1(server);
  const other = client1(server);
  const answer = slow.send({ path: '/slow' });
  await arrival;
  await other.send({ path: '/first' });
  const drained = server.drain();
  const late = await other.open({ path: '/watch' }).then(readText, () => 'refused');
  assert.ok(late === 'hi' || late === 'refused', late);
  release();
  assert.equal((await answer).text, 'slow');
  await drained;
  slow.close();
  other.close();
});

test('a body that is cut off is the mistake of the client', { timeout }, async () => {
  let told = (_error: unknown): void => {};
  const failed = new Promise<unknown>((resolve) => {
    told = resolve;
  });
  const server = await start(async (request) => {
    told(await request.body().catch((error: unknown) => error));
    return text('');
  });
  const socket = connectTls({
    port: server.address.port,
    host: '127.0.0.1',
    ca: authority.certificate,
  });
  socket.on('error', () => {});
  socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n');
  socket.end('too short');
  const error = await failed;
  assert.ok(isApiError(error));
  assert.equal(error.status.code, 400);
  socket.destroy();
  await server.drain();
});

test('a port that is taken is an error of the start', async () => {
  const server = await start(async () => text(''));
  const tls = { key, cert, ca: authority.certificate };
  const { port } = server.address;
  await assert.rejects(
    startServer({ host: '127.0.0.1', port, tls, handle: async () => text(''), log: silentLog }),
    { code: 'EADDRINUSE' },
  );
  await server.drain();
});
