// UDP over Node's own sockets, on all platforms. serve-udp-batches.ts is faster where available.
import type { RemoteInfo } from 'node:dgram';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { Answerer, Peer } from './answerer.ts';
import type { Counters } from './counters.ts';
import type { ServerAddress } from './forward/upstream-servers.ts';
import { maxMessageSize } from './wire/record-types.ts';

export type UdpOptions = {
  readonly address: ServerAddress;
  readonly answerer: Answerer;
  readonly counters: Counters;
  /** Milliseconds with fractions, for durations. */
  readonly now: () => number;
  /** A socket that is already bound; absent: one is opened. */
  readonly descriptor?: number;
};

export type Listener = {
  readonly address: ServerAddress;
  /** Stops receiving; deferred replies are still sent. */
  readonly pause: () => void;
  readonly close: () => Promise<void>;
};

/** Buffers queries while the thread is busy; the kernel may grant less. */
export const receiveBuffer = 4 * 1024 * 1024;

export async function serveUdp(options: UdpOptions): Promise<Listener> {
  const { host, port } = options.address;
  const isIPv6 = host.includes(':');
  const socket = createSocket({ type: isIPv6 ? 'udp6' : 'udp4', ipv6Only: isIPv6 });
  const answerOne = createAnswerOne(socket, options);
  socket.on('message', answerOne);
  // Subscribed before bind(): a bound descriptor emits `listening` at once.
  const listening = once(socket, 'listening');
  if (options.descriptor === undefined) socket.bind(port, host);
  else socket.bind({ fd: options.descriptor });
  await listening;
  // Later errors concern single packets: their clients retry.
  socket.on('error', () => options.counters.add('dropped'));
  socket.setRecvBufferSize(receiveBuffer);
  return {
    address: { host, port: socket.address().port },
    pause: () => void socket.off('message', answerOne),
    close: () => closeSocket(socket),
  };
}

export async function closeSocket(socket: Socket): Promise<void> {
  const closed = once(socket, 'close');
  socket.close();
  await closed;
}

export function createAnswerOne(
  socket: Socket,
  { answerer, counters, address, now }: UdpOptions,
): (packet: Buffer, sender: RemoteInfo) => void {
  const out = Buffer.alloc(maxMessageSize);
  const isIPv6 = address.host.includes(':');
  const send = (packet: Uint8Array, { port, address: host }: RemoteInfo): void =>
    // Without a callback the error would be emitted on the socket.
    socket.send(packet, port, host, (error) => {
      if (error !== null) counters.add('dropped');
    });
  return (packet, sender) => {
    const start = now();
    const peer: Peer = {
      isTcp: false,
      isIPv6,
      address: () => sender.address,
      deferReply: () => (reply) => send(reply, sender),
    };
    const length = answerer.handle(packet, packet.length, out, peer);
    if (length === 0) return;
    send(Buffer.from(out.subarray(0, length)), sender);
    counters.duration((now() - start) / 1000, 1);
  };
}
