// Requests over HTTP/2: they share a connection, and pings on that connection tell whether the server is alive, as in client-go. A stream
// may therefore be idle for any time.
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { endLater, resetLater } from '../host/end-later.ts';
import {
  type ExchangeOptions,
  headersOf,
  isWatch,
  keepAliveMs,
  pathOf,
  silenceError,
} from './exchange.ts';
import { watchLiveness } from './http2-liveness.ts';
import { openTlsSocket } from './open-socket.ts';
import type { Connection } from './read-kubeconfig.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';

export type Http2Exchange = {
  /** Resolves to undefined when the server does not support HTTP/2; nothing was sent then. */
  readonly send: (request: TransportRequest) => Promise<TransportResponse | undefined>;
  readonly retire: () => void;
  readonly close: () => Promise<void>;
};

/** kube-apiserver's default limit is 250 per connection; beyond this another connection is opened. */
const maxStreams = 200;
/** Flow control of one stream: a page of a list fits. */
const streamWindowBytes = 1024 * 1024;
/** Flow control of the whole connection; a stream that is not read blocks only its own window. */
const sessionWindowBytes = 16 * 1024 * 1024;

/** Node's default of 10 is less than what the streams of one connection may buffer. */
const maxSessionMegabytes = 64;

type Session = {
  readonly http2: ClientHttp2Session;
  /** Open streams, and those about to be opened. */
  streams: number;
};

export function createHttp2Exchange(options: ExchangeOptions): Http2Exchange {
  const sessions = new Set<Session>();
  let opening: Promise<Session | undefined> | undefined;
  let speaksHttp2 = true;
  let isClosed = false;

  const open = async (): Promise<Session | undefined> => {
    const socket = await openSocket(options);
    if (isClosed) {
      socket.destroy();
      throw new Error(
        `Cannot send a request to ${options.connection.server}: the transport is closed`,
      );
    }
    if (socket.alpnProtocol !== 'h2') {
      speaksHttp2 = false;
      socket.destroy();
      return undefined;
    }
    const session = { http2: startSession(socket, options), streams: 0 };
    sessions.add(session);
    session.http2.once('close', () => sessions.delete(session));
    watchLiveness({
      ...options,
      socket,
      session: session.http2,
      isIdle: () => session.streams === 0,
    });
    return session;
  };
  /** Returns a session with a free stream. The stream is counted at once, as several requests may acquire one before the first is opened. */
  const acquireSession = async (signal: AbortSignal | undefined): Promise<Session | undefined> => {
    for (;;) {
      signal?.throwIfAborted();
      for (const session of sessions) {
        if (!hasRoom(session)) continue;
        session.streams += 1;
        return session;
      }
      opening ??= open().finally(() => {
        opening = undefined;
      });
      if ((await unlessAborted(opening, signal)) === undefined) return undefined;
    }
  };
  return {
    async send(request) {
      for (let tries = 1; ; tries += 1) {
        const session = speaksHttp2 ? await acquireSession(request.signal) : undefined;
        if (session === undefined) return undefined;
        const response = await exchange(session, options, request).catch((error: unknown) => {
          // The server refused the stream before processing it, or was closing the connection.
          if (!isRefused(error) || tries >= maxTries) throw error;
        });
        if (response !== undefined) return response;
      }
    },
    retire() {
      for (const { http2 } of sessions) http2.close();
    },
    close() {
      isClosed = true;
      for (const { http2 } of sessions) endLater(http2);
      return Promise.resolve();
    },
  };
}

const maxTries = 3;

/** Stops waiting when the signal is aborted; `work` goes on for its other waiters. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function hasRoom({ http2, streams }: Session): boolean {
  if (http2.closed || http2.destroyed) return false;
  return streams < Math.min(maxStreams, http2.remoteSettings?.maxConcurrentStreams ?? maxStreams);
}

const refusedCodes = new Set([
  'ERR_HTTP2_GOAWAY_SESSION',
  'ERR_HTTP2_INVALID_SESSION',
  'ERR_HTTP2_STREAM_REFUSED',
]);

function isRefused(error: unknown): boolean {
  return refusedCodes.has((error as NodeJS.ErrnoException).code ?? '');
}

async function openSocket(options: ExchangeOptions): Promise<TLSSocket> {
  const socket = await openTlsSocket(options, ['h2', 'http/1.1']);
  socket.setNoDelay(true);
  socket.setKeepAlive(true, keepAliveMs);
  return socket;
}

function startSession(socket: TLSSocket, { connection }: ExchangeOptions): ClientHttp2Session {
  const session = connect(connection.server, {
    createConnection: () => socket,
    maxSessionMemory: maxSessionMegabytes,
    settings: { enablePush: false, initialWindowSize: streamWindowBytes },
  });
  // Each request on the session reports the error itself.
  session.on('error', () => {});
  session.once('connect', () => session.setLocalWindowSize(sessionWindowBytes));
  session.unref();
  return session;
}

function exchange(
  session: Session,
  { connection, limits }: ExchangeOptions,
  request: TransportRequest,
): Promise<TransportResponse> {
  return new Promise((resolve, reject) => {
    const stream = openStream(session, connection, request);
    let failure: Error | undefined;
    const ended = new Error(
      `Cannot read the response of ${connection.server}: the stream was closed`,
    );
    const fail = (error: Error): void => {
      failure ??= error;
      reject(failure);
      resetLater(stream, constants.NGHTTP2_CANCEL);
    };
    const abort = (): void => fail(request.signal?.reason as Error);
    request.signal?.addEventListener('abort', abort, { once: true });
    stream.once('close', () => {
      request.signal?.removeEventListener('abort', abort);
      release(session);
      reject(isRefusedStream(stream) ? refusal(connection.server) : (failure ?? ended));
    });
    stream.on('error', (error: Error) => {
      failure ??= error;
    });
    if (!isWatch(request))
      stream.setTimeout(limits.silenceMs, () => fail(silenceError(connection, limits.silenceMs)));
    stream.once('response', (headers) =>
      resolve({
        status: headers[':status'] ?? 0,
        headers,
        body: bodyOf(stream, () => failure),
      }),
    );
    if (request.body !== undefined) stream.end(request.body);
  });
}

function openStream(
  session: Session,
  connection: Connection,
  request: TransportRequest,
): ClientHttp2Stream {
  try {
    const stream = session.http2.request(
      {
        ...headersOf(request, connection),
        [constants.HTTP2_HEADER_METHOD]: request.method,
        [constants.HTTP2_HEADER_PATH]: pathOf(connection, request),
      },
      { endStream: request.body === undefined },
    );
    session.http2.ref();
    return stream;
  } catch (error) {
    release(session);
    throw error;
  }
}

/** An idle session does not keep the process alive. */
function release(session: Session): void {
  session.streams -= 1;
  if (session.streams === 0 && !session.http2.destroyed) session.http2.unref();
}

const isRefusedStream = ({ rstCode }: ClientHttp2Stream): boolean =>
  rstCode === constants.NGHTTP2_REFUSED_STREAM;

/** The server did not process the request. */
function refusal(server: string): Error {
  const code = 'ERR_HTTP2_STREAM_REFUSED';
  return Object.assign(new Error(`${server} refuses more requests on this connection`), { code });
}

/** A reader that stops early resets the stream; the iterator itself must not destroy it. */
async function* bodyOf(
  stream: ClientHttp2Stream,
  failure: () => Error | undefined,
): AsyncIterable<Uint8Array> {
  try {
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
      yield chunk as Uint8Array;
      if (failure() !== undefined) break;
    }
  } catch (error) {
    throw failure() ?? error;
  } finally {
    if (!stream.closed) resetLater(stream, constants.NGHTTP2_CANCEL);
  }
  const ended = failure();
  if (ended !== undefined) throw ended;
}
