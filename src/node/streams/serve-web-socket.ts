// WebSocket connections: numbered channels, or a byte stream for SPDY.
import type { IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import type { CommandProtocol } from './stream-protocols.ts';

export type Handshake = {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
};

/** As upstream. */
const maxMessageBytes = 32 * 1024 * 1024;

/** Must add listeners synchronously: messages without a listener are lost. */
export type WebSocketHandler<T> = (webSocket: WebSocket) => T;

/** Loads the library for the first client, to save memory. */
export async function acceptWebSocket<T>(
  handshake: Handshake,
  protocol: string,
  onStream: WebSocketHandler<T>,
): Promise<T> {
  return accept(await import('ws'), handshake, protocol, onStream);
}

/** For SPDY over WebSocket. */
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
  onStream: WebSocketHandler<T>,
): Promise<T> {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: maxMessageBytes,
  });
  // Kubernetes' protocol names contain slashes, which the standard forbids and the library refuses.
  delete request.headers['sec-websocket-protocol'];
  if (protocol !== '') {
    server.on('headers', (lines) => lines.push(`Sec-WebSocket-Protocol: ${protocol}`));
  }
  return new Promise((resolve, reject) => {
    socket.once('close', () => reject(new Error('the client has disconnected')));
    server.handleUpgrade(request, socket, head, (webSocket) => resolve(onStream(webSocket)));
  });
}

export type Channels = {
  /** May be called once per channel. */
  readonly open: (number: number) => Duplex;
  readonly closed: Promise<void>;
  /** Closes after all data has been sent. */
  readonly close: () => void;
};

/** Interval of pings, to detect dead connections. */
const pingMs = 30_000;
/** Buffered data of one channel before the connection is paused. */
const maxUnread = 256 * 1024;
/** `[255, channel]`: the client closes its side of the channel. */
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
  // Errors are followed by `close`, where they are handled.
  webSocket.on('error', () => {});
  const heartbeat = startHeartbeat(webSocket);
  const closed = new Promise<void>((resolve) =>
    webSocket.once('close', () => {
      clearInterval(heartbeat);
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

function startHeartbeat(webSocket: WebSocket): NodeJS.Timeout {
  let isAlive = true;
  webSocket.on('pong', () => {
    isAlive = true;
  });
  return setInterval(() => {
    // Pongs of a paused connection are not read either.
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

type ChannelContext = {
  readonly webSocket: WebSocket;
  readonly protocol: CommandProtocol;
  readonly full: Set<number>;
};

function createChannel({ webSocket, protocol, full }: ChannelContext, number: number): Duplex {
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
      // Back-pressure: done when the connection has accepted the message.
      webSocket.send(message, { binary: !isBase64 }, (error) => done(error));
    },
    destroy(error, done) {
      if (full.delete(number) && full.size === 0) webSocket.resume();
      done(error);
    },
  });
  return channel.on('error', () => {});
}
