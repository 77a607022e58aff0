// DNS over TCP (RFC 7766): length-prefixed messages, pipelined, answered as they become ready. Connections without a whole query for a while
// and those that do not read are closed; one with too many pending queries is paused.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { Clock } from '../host/clock.ts';
import type { Answerer, Peer } from './answerer.ts';
import { createClientShares } from './client-shares.ts';
import type { Counters } from './counters.ts';
import type { ServerAddress } from './forward/upstream-servers.ts';
import type { Listener } from './serve-udp.ts';
import { maxMessageSize } from './wire/record-types.ts';

export type TcpOptions = {
  readonly address: ServerAddress;
  readonly answerer: Answerer;
  readonly counters: Counters;
  /** Milliseconds, to measure how long a reply takes. */
  readonly now: () => number;
  readonly clock: Clock;
  /** A socket that is already listening; absent: one is opened. */
  readonly descriptor?: number;
};

/** Enough for every pod of a node at once, and far below the limit of open files. */
const maxConnections = 1000;
/** So that one client cannot use up all connections. */
const maxPerClient = 100;
/** CoreDNS' idle limit. Bytes alone are no sign of life: a client that sends one at a time would hold its connection forever. */
const idleMs = 10_000;
/** Pending queries per connection. */
const maxPending = 100;
/** Bytes of replies that a client has not read yet. */
const maxUnread = 1024 * 1024;

export async function serveTcp(options: TcpOptions): Promise<Listener> {
  const { host, port } = options.address;
  const open = new Set<Socket>();
  const shares = createClientShares(maxConnections, maxPerClient);
  const server = createServer({ noDelay: true }, (socket) => {
    const client = socket.remoteAddress ?? '';
    if (!shares.mayBegin(client)) {
      options.counters.add('tcpRefused');
      socket.destroy();
      return;
    }
    open.add(socket);
    shares.begin(client);
    options.counters.add('tcpConnections');
    socket.on('close', () => {
      open.delete(socket);
      shares.end(client);
      options.counters.add('tcpConnections', -1);
    });
    serveConnection(socket, client, options);
  });
  if (options.descriptor === undefined) {
    server.listen({ host, port, ipv6Only: host.includes(':') });
  } else server.listen({ fd: options.descriptor });
  await once(server, 'listening');
  // For example EMFILE: the connection is not accepted.
  server.on('error', () => options.counters.add('tcpRefused'));
  return {
    address: { host, port: boundPort(server.address()) },
    pause: () => void server.close(),
    async close() {
      const closed = server.listening ? once(server, 'close') : Promise.resolve();
      if (server.listening) server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

function boundPort(address: ReturnType<ReturnType<typeof createServer>['address']>): number {
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function serveConnection(socket: Socket, client: string, options: TcpOptions): void {
  const { answerer, counters, now } = options;
  const idle = closeWhenIdle(socket, options.clock);
  const out = Buffer.allocUnsafe(maxMessageSize);
  let received: Buffer = Buffer.alloc(0);
  let pending = 0;
  const send = (packet: Uint8Array): void => {
    if (socket.destroyed) return;
    const framed = Buffer.allocUnsafe(2 + packet.length);
    framed.writeUInt16BE(packet.length, 0);
    framed.set(packet, 2);
    socket.write(framed);
    if (socket.writableLength > maxUnread) socket.destroy();
  };
  const peer: Peer = {
    isTcp: true,
    isIPv6: options.address.host.includes(':'),
    address: () => client,
    deferReply() {
      pending += 1;
      return (packet) => {
        pending -= 1;
        idle.restart();
        send(packet);
        answerReceived();
      };
    },
  };
  const answerFrame = (packet: Buffer): void => {
    const start = now();
    idle.restart();
    const length = answerer.handle(packet, packet.length, out, peer);
    if (length === 0) return;
    send(out.subarray(0, length));
    counters.duration((now() - start) / 1000, 1);
  };
  const answerReceived = (): void => {
    let at = 0;
    while (received.length - at >= 2 && pending < maxPending) {
      const end = at + 2 + received.readUInt16BE(at);
      if (received.length < end) break;
      answerFrame(received.subarray(at + 2, end));
      at = end;
    }
    received = received.subarray(at);
    if (pending < maxPending) socket.resume();
    else socket.pause();
  };
  // Clients disconnect at any time: not logged.
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    answerReceived();
  });
}

/** Destroys the socket when the idle time has passed since its start and the last restart. */
function closeWhenIdle(socket: Socket, clock: Clock): { readonly restart: () => void } {
  let sinceMs = clock.now();
  const check = (): void => {
    const leftMs = Math.min(sinceMs + idleMs - clock.now(), idleMs);
    if (leftMs <= 0) socket.destroy();
    else cancel = clock.after(leftMs, check);
  };
  let cancel = clock.after(idleMs, check);
  socket.on('close', () => cancel());
  return {
    restart() {
      sinceMs = clock.now();
    },
  };
}
