// The server over TLS on loopback, with both versions of HTTP: limits of clients.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { buffer } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { createMetrics } from '../../observe/metrics.ts';
import { createServerMetrics } from '../metrics.ts';
import {
  authority,
  bothVersions,
  type Http,
  openSocket,
  readAll,
  readBody,
  type StartOptions,
  start,
  startStreams,
  text,
  until,
} from './example.ts';

const timeout = 30_000;
const closing: (() => unknown)[] = [];
after(async () => {
  for (const close of closing) await close();
});

const kib = 1024;

function measured(limits: StartOptions['limits'] = {}) {
  const registry = createMetrics();
  const value = (name: string): number =>
    Number(new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, 'm').exec(registry.text())?.[1] ?? 0);
  return { options: { limits, metrics: createServerMetrics(registry) }, value };
}

function testAnswers({ version, connectTo }: Http): void {
  test(`${version}: sends the audit ID of each request, the client's own if it sent one`, {
    timeout,
  }, async () => {
    const received: (string | undefined)[] = [];
    const server = await start(async ({ auditId }) => {
      received.push(auditId);
      return text('');
    });
    const client = connectTo(server);
    const { headers } = await client.send({});
    assert.match(String(headers['audit-id']), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    const own = await client.send({ headers: { 'Audit-ID': 'own' } });
    assert.equal(own.headers['audit-id'], 'own');
    const long = await client.send({ headers: { 'Audit-ID': 'x'.repeat(65) } });
    assert.deepEqual(received, [headers['audit-id'], 'own', long.headers['audit-id']]);
    assert.equal(String(long.headers['audit-id']).length, 36);
  });

  test(`${version}: forbids caching unless the response allows it`, { timeout }, async () => {
    const server = await start(async ({ path }) =>
      path === '/kept' ? { ...text(''), headers: { 'cache-control': 'public' } } : text(''),
    );
    const client = connectTo(server);
    assert.equal((await client.send({})).headers['cache-control'], 'no-cache, private');
    assert.equal((await client.send({ path: '/kept' })).headers['cache-control'], 'public');
  });
}

function testLimits({ version, connectTo }: Http): void {
  test(`${version}: limits the bodies of all clients together`, { timeout }, async () => {
    const { options, value } = measured({ maxBodyBytesTotal: 100 * kib });
    const server = await start(readBody, options);
    const slow = await openSocket(server);
    slow.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 90000\r\n\r\n');
    slow.write(Buffer.alloc(80_000));
    await until(() => value('fairlead_apiserver_request_body_bytes') === 80_000);
    const client = connectTo(server);
    const post = (size: number) => client.send({ method: 'POST', body: Buffer.alloc(size) });
    assert.equal((await post(20 * kib)).status, 200);
    assert.equal((await post(60 * kib)).status, 429);
    slow.destroy();
    await until(() => value('fairlead_apiserver_request_body_bytes') === 0);
    assert.equal((await post(60 * kib)).status, 200);
  });

  test(`${version}: aborts a response that its client does not read`, {
    timeout,
  }, async () => {
    const { options, value } = measured({ slowReaderTimeoutMs: 60 });
    const server = await start(async () => ({ ...text(''), body: Buffer.alloc(32_768 * kib) }), {
      ...options,
    });
    const stream = await connectTo(server).open({});
    stream.pause().on('error', () => {});
    await until(() => value('fairlead_apiserver_slow_readers_cut_total') === 1);
    assert.equal(value('fairlead_apiserver_unread_bytes'), 0);
    assert.equal((await connectTo(server).send({ method: 'HEAD' })).status, 200);
  });

  test(`${version}: sends a response larger than the limits to a client that reads it`, {
    timeout,
  }, async () => {
    const { options, value } = measured({ maxUnreadBytesPerConnection: 4096 * kib });
    const body = randomBytes(32_768 * kib);
    const server = await start(async () => ({ ...text(''), body }), { ...options });
    assert.ok(body.equals(await buffer(await connectTo(server).open({}))));
    assert.equal(value('fairlead_apiserver_slow_readers_cut_total'), 0);
  });

  test(`${version}: cuts the largest of the streams that are not read`, { timeout }, async () => {
    const { options, value } = measured({ maxUnreadBytes: 16_384 * kib });
    const { server, next } = await startStreams(options);
    const streams = await Promise.all(Array.from({ length: 4 }, () => connectTo(server).open({})));
    for (const stream of streams) stream.pause().on('error', () => {});
    const sinks = [await next(), await next(), await next(), await next()];
    const open = new Set(sinks);
    for (const one of sinks) one.sink.onClose(() => open.delete(one));
    for (let i = 0; i < 32; i += 1) {
      for (const { sink } of sinks) sink.write(Buffer.alloc(512 * kib));
      await new Promise((resolve) => setImmediate(resolve));
      // One that was cut is closed an iteration or two later, and what the kernel is just taking of it is buffered until then.
      const counted = value('fairlead_apiserver_unread_bytes');
      assert.ok(counted <= 17_000 * kib, `${counted} bytes are unread`);
    }
    await until(() => open.size < 4);
    const held = [...open].reduce((sum, one) => sum + one.sink.buffered(), 0);
    assert.ok(held <= 17_000 * kib, `${held} bytes are held`);
    assert.ok(value('fairlead_apiserver_slow_readers_cut_total') > 0);
    for (const { sink } of open) sink.end();
  });
}

for (const http of bothVersions(closing)) {
  testAnswers(http);
  testLimits(http);
}

test('HTTP/1.1: handles pipelined requests one after the other, in order', {
  timeout,
}, async () => {
  const started: string[] = [];
  const server = await start(async ({ path }) => {
    started.push(path);
    return { ...text(''), body: Buffer.alloc(24_576 * kib, path.slice(1)) };
  });
  const socket = await openSocket(server);
  socket.pause();
  const paths = ['/a', '/b', '/c'];
  socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`).join(''));
  const other = await openSocket(server);
  other.write('GET /other HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
  await readAll(other);
  assert.deepEqual(started, ['/a', '/other']);
  let order = '';
  socket.on('data', (chunk: Buffer) => {
    const letter = String.fromCharCode(chunk.at(-1) ?? 0);
    if ('abc'.includes(letter) && !order.endsWith(letter)) order += letter;
  });
  socket.resume();
  await until(() => order === 'abc');
  socket.destroy();
  await server.drain();
});

test('HTTP/1.1: disconnects a client that pipelines too many requests', { timeout }, async () => {
  let started = 0;
  const server = await start(async () => {
    started += 1;
    return new Promise(() => {});
  });
  const socket = await openSocket(server);
  const answer = readAll(socket);
  socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(1000));
  assert.equal(await answer, '');
  assert.equal(started, 1);
  await server.drain();
});

test('HTTP/1.1: refuses a head that is too large', { timeout }, async () => {
  const server = await start(async () => text('fine'), { limits: { maxHeaderBytes: 8 * kib } });
  closing.push(server.drain);
  const socket = await openSocket(server);
  const answer = readAll(socket);
  socket.write(`GET / HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(9 * kib)}\r\n\r\n`);
  assert.match(await answer, /^HTTP\/1\.1 431 /);
});

test('startServer() evicts unauthenticated connections beyond the limit, and counts them', {
  timeout,
}, async () => {
  const { options, value } = measured({ maxConnections: 16 });
  const server = await start(async () => text('fine'), options);
  const first = await openSocket(server);
  const closed = once(first, 'close');
  const others = [await openSocket(server), await openSocket(server)];
  await closed;
  assert.equal(value('fairlead_apiserver_evicted_connections_total'), 1);
  assert.equal(value('fairlead_apiserver_unauthenticated_connections'), 2);
  for (const socket of others) socket.destroy();
  await server.drain();
});

for (const { version, connectTo } of bothVersions(closing)) {
  test(`${version}: keeps the connection of an authenticated user when anonymous clients open many`, {
    timeout,
  }, async () => {
    const { options, value } = measured({ maxConnections: 16 });
    const server = await start(async (request) => {
      // As authentication does for a valid token.
      if (request.headers.authorization === 'Bearer good')
        request.authenticated?.({ name: 'jane', groups: [] });
      return text('fine');
    }, options);
    const client = connectTo(server);
    const headers = { authorization: 'Bearer good' };
    assert.equal((await client.send({ headers })).status, 200);
    for (let n = 0; n < 20; n += 1) await openSocket(server);
    assert.equal(value('fairlead_apiserver_unauthenticated_connections'), 2);
    assert.equal((await client.send({ headers })).status, 200);
    assert.equal((await client.send({})).status, 200);
    assert.equal(value('fairlead_apiserver_evicted_connections_total'), 18);
  });
}

test('startServer() closes an idle connection, and keeps one with a quiet watch', {
  timeout,
}, async () => {
  const { server, next } = await startStreams({ limits: { idleTimeoutMs: 200 } });
  const connect = () =>
    connectHttp2(`https://127.0.0.1:${server.address.port}`, { ca: authority.certificate });
  const watching = connect();
  const stream = watching.request({});
  await once(stream, 'response');
  const { sink } = await next();
  const idle = connect();
  await once(idle, 'close');
  assert.equal(watching.closed, false);
  sink.write(Buffer.from('still here'));
  const [chunk] = await once(stream, 'data');
  assert.equal(String(chunk), 'still here');
  sink.end();
  await once(watching, 'close');
  await server.drain();
});

test('startServer() answers 408 to a client that sends its head too slowly', {
  timeout,
}, async () => {
  const server = await start(async () => text('fine'), { limits: { headerTimeoutMs: 50 } });
  const socket = await openSocket(server);
  socket.write('GET / HTTP/1.1\r\nhost:');
  assert.match(await readAll(socket), /^HTTP\/1\.1 408 /);
  await server.drain();
});
