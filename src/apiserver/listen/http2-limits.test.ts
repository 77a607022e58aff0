// Limits of clients that are of HTTP/2 alone: streams that are queued, reset or many.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2, constants } from 'node:http2';
import { buffer } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { createMetrics } from '../../observe/metrics.ts';
import { createServerMetrics } from '../metrics.ts';
import { authority, openSocket, readAll, start, text, until } from './example.ts';

const timeout = 30_000;
const closing: (() => unknown)[] = [];
after(async () => {
  for (const close of closing) await close();
});

const kib = 1024;

test('HTTP/2: queues the next requests of a client that does not read', { timeout }, async () => {
  let started = 0;
  const server = await start(async () => {
    started += 1;
    return { ...text(''), body: Buffer.alloc(3072 * kib) };
  });
  const session = connectHttp2(`https://127.0.0.1:${server.address.port}`, {
    ca: authority.certificate,
  });
  const streams = Array.from({ length: 20 }, () => session.request({}).pause());
  const [last] = streams.slice(-1);
  assert.ok(last !== undefined);
  await until(() => started >= 3);
  // One that is cancelled in the queue does not affect the others.
  last.on('error', () => {});
  last.close();
  // When this is answered, all requests above have been processed.
  const second = await openSocket(server);
  second.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
  await readAll(second);
  assert.equal(started, 4, 'three of 3 MiB, and the other client');
  const sizes = streams.slice(0, -1).map(async (stream) => {
    let size = 0;
    for await (const chunk of stream) size += (chunk as Buffer).length;
    return size;
  });
  assert.deepEqual(
    await Promise.all(sizes),
    sizes.map(() => 3072 * kib),
  );
  assert.equal(started, 20);
  session.destroy();
  await server.drain();
});

/** A frame of HTTP/2: its length, type, flags and stream, then what it carries. */
function frame(type: number, flags: number, stream: number, payload = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** The error codes of all GOAWAY frames. */
function goawayReasons(bytes: Buffer): readonly number[] {
  const reasons: number[] = [];
  for (let at = 0; at + 17 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) {
    if (bytes[at + 3] === 7) reasons.push(bytes.readUInt32BE(at + 13));
  }
  return reasons;
}

/** A complete GET request, cancelled with RST_STREAM. */
const resetRequest = (n: number): Buffer =>
  Buffer.concat([
    frame(1, 5, 2 * n + 1, Buffer.from([0x82, 0x84, 0x87, 0x01, 0x01, 0x61])),
    frame(3, 0, 2 * n + 1, Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL])),
  ]);

test('HTTP/2: drops requests that are reset at once, and closes the connection after too many', {
  timeout,
}, async () => {
  let started = 0;
  const server = await start(async () => {
    started += 1;
    return text('fine');
  });
  closing.push(server.drain);
  const { port } = server.address;
  const ca = authority.certificate;
  const socket = connectTls({ host: '127.0.0.1', port, ca, ALPNProtocols: ['h2'] });
  socket.on('error', () => {});
  await once(socket, 'secureConnect');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0)]));
  socket.write(Buffer.concat(Array.from({ length: 900 }, (_, n) => resetRequest(n))));
  await once(socket, 'close');
  assert.ok(started < 450, `${started} of 900 requests were started`);
  const reasons = goawayReasons(Buffer.concat(chunks));
  assert.ok(reasons.includes(constants.NGHTTP2_ENHANCE_YOUR_CALM), `${reasons}`);
});

test('HTTP/2: answers a thousand concurrent requests in many iterations of the event loop', {
  timeout,
}, async () => {
  let started = 0;
  const iterations = new Set<number>();
  let iteration = 0;
  const count = (): void => {
    iteration += 1;
    if (started < 900) setImmediate(count);
  };
  const server = await start(async () => {
    started += 1;
    iterations.add(iteration);
    return text('fine');
  });
  closing.push(server.drain);
  const session = connectHttp2(`https://127.0.0.1:${server.address.port}`, {
    ca: authority.certificate,
  });
  await once(session, 'connect');
  count();
  const answers = Array.from({ length: 900 }, () => buffer(session.request({})));
  const texts = new Set((await Promise.all(answers)).map(String));
  assert.deepEqual([...texts], ['fine']);
  assert.ok(
    iterations.size > 50,
    `answered within ${iterations.size} iterations of the event loop`,
  );
  session.destroy();
});

test('HTTP/2: refuses a head that is too large', { timeout }, async () => {
  const server = await start(async () => text('fine'));
  const session = connectHttp2(`https://127.0.0.1:${server.address.port}`, {
    ca: authority.certificate,
  });
  session.on('error', () => {});
  closing.push(() => session.destroy(), server.drain);
  const stream = session.request({ x: 'y'.repeat(70 * kib) });
  const outcome = await new Promise((resolve) => {
    stream.on('response', (headers) => resolve(headers[':status']));
    stream.on('error', () => resolve('refused'));
    stream.on('close', () => resolve('closed'));
  });
  assert.notEqual(outcome, 200);
});

/** A request without its end: as bytes, because a client of Node.js ends what it resets. */
const beginning = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  frame(4, 0, 0),
  frame(1, 4, 1, Buffer.from([0x83, 0x84, 0x87, 0x01, 0x01, 0x61])),
  frame(0, 0, 1, Buffer.from('kind: ConfigMap')),
]);

for (const [how, breakOff] of [
  ['resets', (socket: TLSSocket) => socket.write(frame(3, 0, 1, Buffer.from([0, 0, 0, 8])))],
  ['disconnects', (socket: TLSSocket) => socket.destroy()],
] as const) {
  test(`HTTP/2: a body is not taken for complete when its client ${how}`, { timeout }, async () => {
    const bodies: string[] = [];
    const refused: string[] = [];
    const registry = createMetrics();
    const server = await start(
      async (request) => {
        await request.body().then(
          (body) => bodies.push(String(body)),
          ({ message }: Error) => refused.push(message),
        );
        return text('');
      },
      { metrics: createServerMetrics(registry) },
    );
    closing.push(server.drain);
    const { port } = server.address;
    const ca = authority.certificate;
    const socket = connectTls({ host: '127.0.0.1', port, ca, ALPNProtocols: ['h2'] });
    socket.on('error', () => {});
    await once(socket, 'secureConnect');
    socket.write(beginning);
    await until(() => registry.text().includes('request_body_bytes 15'));
    breakOff(socket);
    await until(() => bodies.length + refused.length > 0);
    assert.deepEqual(
      { bodies, refused },
      { bodies: [], refused: ['the body of the request ended before it was complete'] },
    );
    socket.destroy();
  });
}
