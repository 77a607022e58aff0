// Floods of connections, handshakes, heads, bodies and HTTP/2 frames that never end.
import { once } from 'node:events';
import { constants } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { host } from '../bench/client.ts';
import type { Target } from '../bench/target.ts';
import type { Attacker, HostileCase } from './run-case.ts';

/** A low limit, so that floods are short; unauthenticated connections of one address get an eighth of it. */
const maxConnections = 800;
const atOnce = 50;
const fewConnections = ['--max-connections', `${maxConnections}`];

const quiet = <T extends Socket>(socket: T): T => socket.on('error', () => undefined) as T;

function openTcp({ port }: Target): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = quiet(connectTcp({ host, port }, () => resolve(socket)));
    socket.once('close', () => resolve(socket));
  });
}

/** Without a client certificate, unless `more` has one. */
function openTls(target: Target, protocol: string, more: object = {}): Promise<TLSSocket> {
  const { port, ca } = target;
  return new Promise((resolve, reject) => {
    const socket = quiet(
      connectTls(
        { host, port, ca, servername: 'localhost', ALPNProtocols: [protocol], ...more },
        () => resolve(socket),
      ),
    );
    socket.once('close', () => reject(new Error('closed before the handshake')));
  });
}

/** New connections of honest clients succeed, from the address of the attack and from another one. */
async function othersGetIn(target: Target): Promise<void> {
  for (const localAddress of [host, '127.0.0.9']) await getIn(target, localAddress);
}

async function getIn(target: Target, localAddress: string): Promise<void> {
  const { cert, key } = target;
  const socket = await openTls(target, 'http/1.1', { cert, key, localAddress });
  socket.write('GET /api/v1/namespaces/default HTTP/1.1\r\nhost: a\r\n\r\n');
  const [chunk] = await new Promise<[Buffer]>((resolve, reject) => {
    socket.once('data', (data: Buffer) => resolve([data]));
    socket.once('close', () => reject(new Error('closed before the answer')));
  });
  socket.destroy();
  if (!String(chunk).startsWith('HTTP/1.1 200')) throw new Error(`answered ${chunk}`);
}

async function flood(
  { target }: Attacker,
  open: (n: number) => Promise<Socket>,
  count = maxConnections,
): Promise<void> {
  const sockets: Socket[] = [];
  try {
    for (let n = 0; n < count; n += atOnce) {
      const batch = Array.from({ length: atOnce }, (_, m) => open(n + m));
      sockets.push(...(await Promise.allSettled(batch)).flatMap(fulfilled));
      await othersGetIn(target);
    }
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

const fulfilled = (result: PromiseSettledResult<Socket>): readonly Socket[] =>
  result.status === 'fulfilled' ? [result.value] : [];

/** A frame of HTTP/2: its length, type, flags and stream, then what it carries. */
function frame(type: number, flags: number, stream: number, payload = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const frameTypes = { headers: 1, reset: 3, settings: 4, ping: 6, continuation: 9 } as const;
const preface = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  frame(frameTypes.settings, 0, 0),
]);

/** A complete request and its RST_STREAM; in one packet, a Node.js client would send neither. */
function resetGet(n: number): Buffer {
  const stream = 2 * n + 1;
  // GET, https, `/api/v1/services`, and the host.
  const path = '/api/v1/services';
  const head = Buffer.from([0x82, 0x87, 0x04, path.length, ...Buffer.from(path), 1, 1, 0x61]);
  return Buffer.concat([
    frame(frameTypes.headers, 5, stream, head),
    frame(frameTypes.reset, 0, stream, Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL])),
  ]);
}

/** Writes so many bytes, or until the server closes the connection. */
async function pour({ target }: Attacker, chunk: Buffer, bytes: number): Promise<void> {
  const socket = await openTls(target, 'h2', { cert: target.cert, key: target.key });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.resume();
  socket.write(preface);
  for (let sent = 0; sent < bytes && !socket.destroyed; sent += chunk.length) {
    const isFull = !socket.write(chunk);
    if (isFull)
      await Promise.race([closed, new Promise((resolve) => socket.once('drain', resolve))]);
  }
  socket.destroy();
}

const mebibyte = 1024 * 1024;
const repeated = (piece: Buffer): Buffer =>
  Buffer.concat(Array.from({ length: Math.ceil(65_536 / piece.length) }, () => piece));

export const floods: readonly HostileCase[] = [
  {
    name: 'TCP connections without a handshake',
    flags: fewConnections,
    attack: (attacker) => flood(attacker, () => openTcp(attacker.target)),
  },
  {
    name: 'unfinished TLS handshakes',
    flags: fewConnections,
    attack: (attacker) =>
      flood(attacker, async () => {
        const socket = await openTcp(attacker.target);
        // The beginning of a hello.
        socket.write(Buffer.from('16030100c8010000c40303', 'hex'));
        return socket;
      }),
  },
  {
    name: 'anonymous connections without requests',
    flags: fewConnections,
    attack: (attacker) => flood(attacker, () => openTls(attacker.target, 'http/1.1')),
  },
  {
    name: 'heads and bodies that never end',
    flags: fewConnections,
    attack: (attacker) =>
      flood(attacker, async (n) => {
        const socket = await openTls(attacker.target, 'http/1.1');
        const head = 'POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nhost: a\r\n';
        socket.write(n % 2 === 0 ? head : `${head}content-length: 1000000\r\n\r\n{`);
        return socket;
      }),
  },
  {
    name: 'streams of HTTP/2 that are reset at once',
    attack: async ({ target }) => {
      const { cert, key } = target;
      const packet = Buffer.concat([
        preface,
        ...Array.from({ length: 990 }, (_, n) => resetGet(n)),
      ]);
      for (let n = 0; n < 10; n += 1) {
        const socket = await openTls(target, 'h2', { cert, key });
        socket.resume();
        socket.write(packet);
        // The server is to close it.
        await once(socket, 'close', { signal: AbortSignal.timeout(10_000) });
      }
    },
  },
  {
    name: 'pings of HTTP/2 without end',
    attack: (attacker) =>
      pour(attacker, repeated(frame(frameTypes.ping, 0, 0, Buffer.alloc(8))), 20 * mebibyte),
  },
  {
    name: 'settings of HTTP/2 without end',
    attack: (attacker) => pour(attacker, repeated(frame(frameTypes.settings, 0, 0)), 20 * mebibyte),
  },
  {
    name: 'headers of HTTP/2 that go on without end',
    attack: async (attacker) => {
      const field = Buffer.concat([
        Buffer.from([0x00, 0x01, 0x61, 0x7f, 0x81, 0x7e]),
        Buffer.alloc(16_384 - 6, 'b'),
      ]);
      const begin = frame(frameTypes.headers, 0, 1, Buffer.from([0x82, 0x84, 0x87]));
      const more = frame(frameTypes.continuation, 0, 1, field.subarray(0, 16_384));
      await pour(attacker, Buffer.concat([begin, more, more, more]), 64_000);
      await pour(attacker, Buffer.concat([begin, ...Array<Buffer>(200).fill(more)]), 20 * mebibyte);
    },
  },
];
