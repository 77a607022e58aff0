// UDP in batches: one recvmmsg receives up to 64 queries, one sendmmsg sends their replies. Node's socket receives the first packet;
// those queued behind it are drained here. So an idle server costs nothing, a busy one half the CPU time, and the thread never blocks. Needs
// 64-bit Linux and koffi; otherwise serve-udp.ts is used.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { endianness } from 'node:os';
import { parseAddress } from '../ip/address.ts';
import type { Peer } from './answerer.ts';
import {
  closeSocket,
  createAnswerOne,
  type Listener,
  receiveBuffer,
  type UdpOptions,
} from './serve-udp.ts';
import {
  batchBytes,
  batchSize,
  createUdpBatch,
  messageHeaderSize,
  type UdpBatch,
} from './udp-batch.ts';

/** The libc calls for batches. */
export type BatchCalls = {
  readonly open: (address: Buffer) => number;
  readonly receive: (descriptor: number) => number;
  readonly send: (descriptor: number, from: number, count: number) => number;
  readonly memory: Buffer;
  readonly base: bigint;
};

/** Batches per iteration of the event loop, so that timers, TCP and zone changes are processed in between. */
const maxBatches = 16;

/** Undefined where batches are not available. */
export async function loadBatchCalls(): Promise<BatchCalls | undefined> {
  const isKnown = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch);
  if (!isKnown || endianness() !== 'LE') return undefined;
  try {
    const { default: koffi } = await import('koffi');
    return bindCalls(koffi);
  } catch {
    // koffi is optional, and may lack a binary for this machine: whatever the reason, serve-udp.ts works without it.
    return undefined;
  }
}

const inet = { 4: 2, 6: 10 } as const;
const datagram = 2;
const nonBlocking = 0o4000;
const closeOnExec = 0o2000000;
const protocolIPv6 = 41;
const onlyIPv6 = 26;
const dontWait = 0x40;

function bindCalls(koffi: typeof import('koffi').default): BatchCalls {
  const libc = koffi.load(null);
  const socket = libc.func('int socket(int, int, int)');
  const bind = libc.func('int bind(int, const void*, uint)');
  const setsockopt = libc.func('int setsockopt(int, int, int, const void*, uint)');
  const close = libc.func('int close(int)');
  const recvmmsg = libc.func('int recvmmsg(int, void*, uint, int, void*)');
  const sendmmsg = libc.func('int sendmmsg(int, void*, uint, int)');
  const pointer = koffi.alloc('uint8_t', batchBytes);
  const base = koffi.address(pointer);
  const sendAt = batchSize * messageHeaderSize;
  return {
    memory: Buffer.from(koffi.view(pointer, batchBytes)),
    base,
    open(address) {
      const isIPv6 = address.length > 16;
      const family = isIPv6 ? inet[6] : inet[4];
      const descriptor: number = socket(family, datagram | nonBlocking | closeOnExec, 0);
      if (isIPv6) setsockopt(descriptor, protocolIPv6, onlyIPv6, Buffer.from([1, 0, 0, 0]), 4);
      if (descriptor >= 0 && bind(descriptor, address, address.length) === 0) return descriptor;
      if (descriptor >= 0) close(descriptor);
      return -1;
    },
    receive: (descriptor) => recvmmsg(descriptor, pointer, batchSize, dontWait, null),
    send: (descriptor, from, count) =>
      sendmmsg(descriptor, base + BigInt(sendAt + from * messageHeaderSize), count, dontWait),
  };
}

/** Undefined when the address cannot be bound this way: Node's own socket then reports the reason. */
export async function serveUdpBatches(
  calls: BatchCalls,
  options: UdpOptions,
): Promise<Listener | undefined> {
  const { host, port } = options.address;
  const name = socketAddress(host, port);
  const descriptor = options.descriptor ?? (name === undefined ? -1 : calls.open(name));
  if (descriptor < 0) return undefined;
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  const answerOne = createAnswerOne(socket, options);
  const drain = createDrain(calls, descriptor, socket, options);
  let isPaused = false;
  socket.on('message', (packet, sender) => {
    if (isPaused) return;
    answerOne(packet, sender);
    drain();
  });
  // Subscribed before bind(): a bound descriptor emits `listening` at once.
  const listening = once(socket, 'listening');
  socket.bind({ fd: descriptor });
  await listening;
  socket.on('error', () => options.counters.add('dropped'));
  socket.setRecvBufferSize(receiveBuffer);
  return {
    address: { host, port: socket.address().port },
    pause: () => {
      isPaused = true;
    },
    close: () => closeSocket(socket),
  };
}

function createDrain(
  calls: BatchCalls,
  descriptor: number,
  socket: Socket,
  options: UdpOptions,
): () => void {
  const { answerer, counters, now } = options;
  const batch = createUdpBatch(calls.memory, calls.base);
  const peer = createBatchPeer(batch, socket, options);
  const answerAll = (count: number): void => {
    let replies = 0;
    for (let index = 0; index < count; index += 1) {
      const question = batch.questions[index];
      const out = batch.replies[index];
      if (question === undefined || out === undefined) continue;
      peer.index = index;
      const length = answerer.handle(question, batch.receivedLength(index), out, peer);
      if (length === 0) continue;
      batch.addReply(replies, index, length);
      replies += 1;
    }
    sendAll(calls, descriptor, replies, () => counters.add('dropped'));
  };
  return () => {
    for (let round = 0; round < maxBatches; round += 1) {
      batch.prepare();
      const count = calls.receive(descriptor);
      if (count <= 0) return;
      const start = now();
      answerAll(count);
      counters.duration((now() - start) / 1000, count);
      if (count < batchSize) return;
    }
  };
}

/** sendmmsg stops at the first packet that it cannot send: drop that one and go on. */
function sendAll(calls: BatchCalls, descriptor: number, count: number, lost: () => void): void {
  let sent = 0;
  while (sent < count) {
    const more = calls.send(descriptor, sent, count - sent);
    if (more > 0) sent += more;
    else {
      sent += 1;
      lost();
    }
  }
}

function createBatchPeer(
  batch: UdpBatch,
  socket: Socket,
  { address, counters }: UdpOptions,
): Peer & { index: number } {
  const peer = {
    index: 0,
    isTcp: false,
    isIPv6: address.host.includes(':'),
    address: () => batch.senderAddress(peer.index),
    deferReply() {
      const host = batch.senderAddress(peer.index);
      const port = batch.senderPort(peer.index);
      return (packet: Uint8Array): void =>
        socket.send(packet, port, host, (error) => {
          if (error !== null) counters.add('dropped');
        });
    },
  };
  return peer;
}

/** Encodes sockaddr_in or sockaddr_in6; undefined for host names. */
function socketAddress(host: string, port: number): Buffer | undefined {
  const address = parseAddress(host);
  if (address === undefined) return undefined;
  const isIPv6 = address.family === 'IPv6';
  const bytes = Buffer.alloc(isIPv6 ? 28 : 16);
  bytes.writeUInt16LE(isIPv6 ? inet[6] : inet[4], 0);
  bytes.writeUInt16BE(port, 2);
  const hex = address.value.toString(16).padStart(isIPv6 ? 32 : 8, '0');
  bytes.write(hex, isIPv6 ? 8 : 4, 'hex');
  return bytes;
}
