import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { after, test } from 'node:test';
import { createHeaderWriter, type SpdyHeaders } from './read-spdy-headers.ts';
import { serveSpdySession } from './serve-spdy-session.ts';
import {
  createFrameReader,
  dataFrame,
  pingFrame,
  resetFrame,
  type SpdyFrame,
  synStreamFrame,
  windowUpdateFrame,
} from './spdy-frames.ts';

const listener = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
await once(listener, 'listening');
after(() => listener.close());

/** Two ends of a connection. */
async function pair(): Promise<readonly [Socket, Socket]> {
  const { port } = listener.address() as AddressInfo;
  const accepted = once(listener, 'connection') as Promise<[Socket]>;
  const client = connect({ host: '127.0.0.1', port });
  const [[server]] = await Promise.all([accepted, once(client, 'connect')]);
  client.on('error', () => {});
  return [client, server];
}

async function startSession() {
  const [client, server] = await pair();
  const streams: { readonly stream: Duplex; readonly headers: SpdyHeaders }[] = [];
  const session = serveSpdySession(server, (stream, headers) => streams.push({ stream, headers }));
  after(() => client.destroy());
  const frames: SpdyFrame[] = [];
  const read = createFrameReader();
  client.on('data', (chunk: Buffer) => {
    frames.push(...read(chunk));
    client.emit('frames');
  });
  const write = createHeaderWriter();
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await once(client, 'frames');
  };
  return {
    client,
    session,
    streams,
    frames,
    until,
    open: (id: number, name: string) =>
      client.write(synStreamFrame(id, write({ streamType: name }))),
  };
}

/** An async iterator would destroy the writable side too. */
async function allOf(stream: Duplex): Promise<Buffer> {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(stream, 'end');
  return Buffer.concat(chunks);
}

const bytesOf = (frames: readonly SpdyFrame[], id: number): Buffer =>
  Buffer.concat(frames.flatMap((f) => (f.kind === 'data' && f.stream === id ? [f.bytes] : [])));
const isEnded = (frames: readonly SpdyFrame[], id: number): boolean =>
  frames.some((f) => f.kind === 'data' && f.stream === id && f.isFinal);

test('serveSpdySession() transfers data in both directions, half-closes streams, and sends GOAWAY', async () => {
  const { client, session, streams, frames, until, open } = await startSession();
  open(1, 'stdin');
  await until(() => frames.some((frame) => frame.kind === 'synReply'));
  const [opened] = streams;
  assert.ok(opened !== undefined);
  assert.equal(opened.headers.get('streamtype'), 'stdin');
  const sent = randomBytes(300_000);
  const received = allOf(opened.stream);
  client.write(dataFrame(1, sent));
  client.write(dataFrame(1, Buffer.alloc(0), true));
  assert.ok(sent.equals(await received));
  const answer = randomBytes(2_000_000);
  opened.stream.end(answer);
  await until(() => isEnded(frames, 1));
  assert.ok(
    answer.equals(bytesOf(frames, 1)),
    'more than a window, for a client without flow control',
  );
  assert.ok(frames.some((frame) => frame.kind === 'windowUpdate' && frame.stream === 0));
  session.close();
  await session.closed;
  assert.equal(frames.at(-1)?.kind, 'goAway');
});

test('a client that has windows is not sent more than they pauseReading', async () => {
  const { client, streams, frames, until, open } = await startSession();
  open(1, 'stdout');
  await until(() => streams.length === 1);
  client.write(windowUpdateFrame(1, 1000));
  client.write(pingFrame(1));
  await until(() => frames.some((frame) => frame.kind === 'ping'));
  streams[0]?.stream.write(Buffer.alloc(200_000));
  await until(() => bytesOf(frames, 1).length >= 65_536);
  client.write(pingFrame(3));
  await until(() => frames.some((frame) => frame.kind === 'ping' && frame.id === 3));
  assert.equal(bytesOf(frames, 1).length, 65_536, 'the window of the connection');
  client.write(windowUpdateFrame(0, 500_000));
  await until(() => bytesOf(frames, 1).length >= 66_536);
  client.write(windowUpdateFrame(1, 500_000));
  await until(() => bytesOf(frames, 1).length === 200_000);
});

test('serveSpdySession() pauses the connection while a stream is not read', async () => {
  const { client, streams, until, open } = await startSession();
  open(1, 'stdin');
  await until(() => streams.length === 1);
  const [opened] = streams;
  assert.ok(opened !== undefined);
  const sent = randomBytes(32_000_000);
  for (let at = 0; at < sent.length; at += 50_000) {
    client.write(dataFrame(1, sent.subarray(at, at + 50_000)));
  }
  client.write(dataFrame(1, Buffer.alloc(0), true));
  await full(opened.stream);
  assert.ok(client.writableLength > 0, 'the client has unsent data');
  assert.ok(opened.stream.readableLength < 2_000_000);
  assert.ok(sent.equals(await allOf(opened.stream)));
});

/** Resolves when the stream's buffer is full and does not grow any more. */
async function full(stream: Duplex): Promise<void> {
  for (let before = -1; before < 1_000_000 || before !== stream.readableLength; ) {
    before = stream.readableLength;
    for (let tick = 0; tick < 50; tick += 1) await new Promise((resolve) => setImmediate(resolve));
  }
}

test('serveSpdySession() answers pings, resets streams, and refuses reused stream ids', async () => {
  const { client, streams, frames, until, open } = await startSession();
  open(1, 'a');
  open(3, 'b');
  client.write(pingFrame(9));
  await until(() => frames.some((frame) => frame.kind === 'ping' && frame.id === 9));
  client.write(resetFrame(1, 5));
  const [first, second] = streams;
  assert.ok(first !== undefined && second !== undefined);
  await once(first.stream, 'close');
  second.stream.destroy();
  await until(() => frames.some((frame) => frame.kind === 'reset' && frame.stream === 3));
  open(3, 'again');
  open(2, 'even');
  await until(() => frames.filter((frame) => frame.kind === 'reset').length === 3);
  assert.equal(streams.length, 2);
});

test('serveSpdySession() closes all streams when the client disconnects', async () => {
  const { client, session, streams, until, open } = await startSession();
  open(1, 'a');
  await until(() => streams.length === 1);
  client.destroy();
  await session.closed;
  assert.equal(streams[0]?.stream.destroyed, true);
});

test('serveSpdySession() survives random input', async () => {
  const write = createHeaderWriter();
  const good = Buffer.concat([
    synStreamFrame(1, write({ streamType: 'stdin' })),
    dataFrame(1, Buffer.from('hello')),
    windowUpdateFrame(1, 0x7fff_ffff),
    windowUpdateFrame(0, 0x7fff_ffff),
    dataFrame(1, Buffer.from('bye'), true),
    dataFrame(1, Buffer.from('after the end')),
    resetFrame(1, 1),
  ]);
  let seed = 42;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % below;
  };
  for (let round = 0; round < 500; round += 1) {
    const [client, server] = await pair();
    const { closed } = serveSpdySession(server, (stream) => {
      stream.on('data', () => {});
      stream.write('answer');
    });
    client.resume();
    const input = round % 2 === 0 ? Buffer.from(good) : Buffer.alloc(1 + random(200));
    for (let change = 0; change < 1 + random(6); change += 1) {
      input[random(input.length)] = random(256);
    }
    if (round % 2 === 1) for (const at of input.keys()) input[at] = random(256);
    client.write(input);
    client.end();
    await closed;
  }
});
