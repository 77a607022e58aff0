// WebSocket connections of the agent: numbered channels in messages, or a stream of bytes for what speaks SPDY inside.
import type { IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import type { CommandProtocol } from './stream-protocols.ts';

export type Handshake = {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
};

/** Upstream's. */
const maxMessageBytes = 32 * 1024 * 1024;

/** What becomes of the connection. It must listen at once: a message that nobody hears is lost. */
export type TakeWebSocket<T> = (webSocket: WebSocket) => T;

/** The library is loaded when the first client comes: agents that nobody asks do without. */
export async function acceptWebSocket<T>(
  handshake: Handshake,
  protocol: string,
  take: TakeWebSocket<T>,
): Promise<T> {
  return accept(await import('ws'), handshake, protocol, take);
}

/** For SPDY inside of WebSocket. */
export async function acceptWebSocketStream(
  handshake: Handshake,
  protocol: string,
): Promise<Duplex> {
  const library = await import('ws');
  return accept(library, handshake, protocol, (webSocket) =>
    library.createWebSocketStream(webSocket, { allowHalfOpen: false }),
  );
}

function accept<T>(
  { WebSocketServer }: typeof import('ws'),
  { request, socket, head }: Handshake,
  protocol: string,
  take: TakeWebSocket<T>,
): Promise<T> {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: maxMessageBytes,
  });
  // Names of Kubernetes' protocols have slashes, which the standard does not allow and the library does not take.
  delete request.headers['sec-websocket-protocol'];
  if (protocol !== '') {
    server.on('headers', (lines) => lines.push(`Sec-WebSocket-Protocol: ${protocol}`));
  }
  return new Promise((resolve, reject) => {
    socket.once('close', () => reject(new Error('the client has gone')));
    server.handleUpgrade(request, socket, head, (webSocket) => resolve(take(webSocket)));
  });
}

export type Channels = {
  /** Each channel once. */
  readonly open: (number: number) => Duplex;
  readonly closed: Promise<void>;
  /** After all that was written. */
  readonly close: () => void;
};

/** A client that has gone quiet: asked now and then, so that one behind a dead link is noticed. */
const pingMs = 30_000;
/** How much of a channel may wait to be read before the connection has to. */
const maxUnread = 256 * 1024;
/** `[255, channel]`: the client will send no more on that channel. */
const closeSignal = 255;
const normalClosure = 1000;
const zeroLetter = 48;

export function openChannels(webSocket: WebSocket, protocol: CommandProtocol): Channels {
  const channels = new Map<number, Duplex>();
  const full = new Set<number>();
  webSocket.on('message', (data) => {
    const message = read(data, protocol);
    if (message === undefined) return;
    const isEnd = message.channel === closeSignal && protocol.canClose;
    const number = isEnd ? (message.bytes[0] ?? -1) : message.channel;
    const channel = channels.get(number);
    if (channel === undefined || channel.destroyed || channel.readableEnded) return;
    if (isEnd) channel.push(null);
    else if (message.bytes.length > 0 && !channel.push(message.bytes)) {
      full.add(number);
      webSocket.pause();
    }
  });
  // The reason why it closes is of no use: whoever comes next gets a connection of their own.
  webSocket.on('error', () => {});
  const heart = startHeart(webSocket);
  const closed = new Promise<void>((resolve) =>
    webSocket.once('close', () => {
      clearInterval(heart);
      for (const channel of channels.values()) channel.destroy();
      resolve();
    }),
  );
  return {
    open(number) {
      const channel = createChannel({ webSocket, protocol, full }, number);
      channels.set(number, channel);
      return channel;
    },
    closed,
    close: () => {
      full.clear();
      webSocket.resume();
      webSocket.close(normalClosure);
    },
  };
}

function startHeart(webSocket: WebSocket): NodeJS.Timeout {
  let isAlive = true;
  webSocket.on('pong', () => {
    isAlive = true;
  });
  return setInterval(() => {
    // One that is held back here is not asked: its answer would wait with the rest.
    if (webSocket.isPaused) return;
    if (!isAlive) webSocket.terminate();
    isAlive = false;
    webSocket.ping();
  }, pingMs).unref();
}

type Message = { readonly channel: number; readonly bytes: Buffer };

function read(data: RawData, { isBase64 }: CommandProtocol): Message | undefined {
  const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer);
  const first = bytes[0];
  if (first === undefined) return undefined;
  const rest = bytes.subarray(1);
  if (!isBase64) return { channel: first, bytes: rest };
  return { channel: first - zeroLetter, bytes: Buffer.from(rest.toString('latin1'), 'base64') };
}

type ChannelPlace = {
  readonly webSocket: WebSocket;
  readonly protocol: CommandProtocol;
  readonly full: Set<number>;
};

function createChannel({ webSocket, protocol, full }: ChannelPlace, number: number): Duplex {
  const { isBase64 } = protocol;
  const channel = new Duplex({
    readableHighWaterMark: maxUnread,
    read() {
      if (full.delete(number) && full.size === 0) webSocket.resume();
    },
    write(chunk: Buffer, _encoding, done) {
      const message = isBase64
        ? `${String.fromCharCode(number + zeroLetter)}${chunk.toString('base64')}`
        : Buffer.concat([Buffer.of(number), chunk]);
      // Answered when the connection has taken it: who writes waits for who reads.
      webSocket.send(message, { binary: !isBase64 }, (error) => done(error));
    },
    destroy(error, done) {
      if (full.delete(number) && full.size === 0) webSocket.resume();
      done(error);
    },
  });
  return channel.on('error', () => {});
}
