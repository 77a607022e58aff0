// The server over TLS on loopback, with both versions of HTTP: streamed bodies, and shutdown.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, constants } from 'node:http2';
import { after, test } from 'node:test';
import {
  authority,
  bothVersions,
  connectHttp1,
  type Http,
  readText,
  start,
  startStreams,
  text,
} from './example.ts';

const timeout = 30_000;
const closing: (() => unknown)[] = [];
after(async () => {
  for (const close of closing) await close();
});

function testStreams({ version, connectTo }: Http): void {
  test(`${version}: sends the head of a stream before its first write`, {
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

  test(`${version}: closes a stream whose client disconnects`, { timeout }, async () => {
    const { server, next } = await startStreams();
    const stream = await connectTo(server).open({});
    const { sink, request } = await next();
    const closed = new Promise<void>((resolve) => sink.onClose(resolve));
    stream.destroy();
    await closed;
    await new Promise<void>((resolve) => {
      if (request.signal().aborted) resolve();
      request.signal().addEventListener('abort', () => resolve());
    });
    sink.write(Buffer.from('after the end'));
    let wasCalled = false;
    sink.onClose(() => {
      wasCalled = true;
    });
    assert.ok(wasCalled, 'a listener added after the end is called at once');
  });

  test(`${version}: reports what a client has not read, and sends all once it reads`, {
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

  test(`${version}: does not let a stream that is not read block others on its connection`, {
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
  test(`${version}: drain() lets requests finish and then refuses new ones`, {
    timeout,
  }, async () => {
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

  test(`${version}: drain() ends streams, also those that start meanwhile`, {
    timeout,
  }, async () => {
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

for (const http of bothVersions(closing)) {
  testStreams(http);
  testDrain(http);
}

for (const name of ['NGHTTP2_NO_ERROR', 'NGHTTP2_CANCEL'] as const) {
  test(`HTTP/2: closes a stream that is reset with ${name}, also with unread data`, {
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

test('drain() ends a watch that an open connection starts meanwhile', {
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
  const slow = connectHttp1(server);
  const other = connectHttp1(server);
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
