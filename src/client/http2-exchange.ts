// Requests over HTTP/2: all of them share a connection, and whether its server is there is asked by a ping on that very connection, as
// client-go does. A server may say nothing for as long as it likes.
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { endLater, resetLater } from '../host/end-later.ts';
import {
  type ExchangeOptions,
  endpointOf,
  headersOf,
  isWatch,
  keepAliveMs,
  NotConnected,
  pathOf,
  silent,
  tlsOptions,
} from './exchange.ts';
import { watchLiveness } from './http2-liveness.ts';
import type { Connection } from './read-kubeconfig.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';

export type Http2Exchange = {
  /** Undefined: the server does not speak HTTP/2, and nothing was sent. */
  readonly send: (request: TransportRequest) => Promise<TransportResponse | undefined>;
  readonly retire: () => void;
  readonly close: () => Promise<void>;
};

/** kube-apiserver takes 250 on a connection where nothing else is set; past it another connection is opened. */
const maxStreams = 200;
/** What may come for one stream before it is read: a page of a list in one go. */
const streamWindowBytes = 1024 * 1024;
/** Of the whole connection: streams that are not read have their own limit. */
const sessionWindowBytes = 16 * 1024 * 1024;

/** Node's own limit of 10 is less than what may come for the streams of one connection. */
const maxSessionMegabytes = 64;

type Session = {
  readonly http2: ClientHttp2Session;
  /** Under way, or about to begin. */
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
      throw new Error(`Cannot ask ${options.connection.server}: the transport is closed`);
    }
    if (socket.alpnProtocol !== 'h2') {
      speaksHttp2 = false;
      socket.destroy();
      return undefined;
    }
    const session = { http2: begin(socket, options), streams: 0 };
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
  /** With room for a stream, which is counted at once: several may ask before the first has begun. */
  const take = async (signal: AbortSignal | undefined): Promise<Session | undefined> => {
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
        const session = speaksHttp2 ? await take(request.signal) : undefined;
        if (session === undefined) return undefined;
        const response = await exchange(session, options, request).catch((error: unknown) => {
          // Refused before anything was done with it, or begun on a connection that was just ending.
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

/** Connecting goes on for the others who wait for it. */
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

async function openSocket({ connection, limits }: ExchangeOptions): Promise<TLSSocket> {
  const { host, port } = endpointOf(connection);
  const socket = connectTls({
    ...tlsOptions(connection),
    ...{ host, port, ALPNProtocols: ['h2', 'http/1.1'] },
  });
  const timer = setTimeout(
    () => socket.destroy(new NotConnected(connection.server, limits.connectMs)),
    limits.connectMs,
  );
  try {
    await once(socket, 'secureConnect');
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
  socket.setNoDelay(true);
  socket.setKeepAlive(true, keepAliveMs);
  return socket;
}

function begin(socket: TLSSocket, { connection }: ExchangeOptions): ClientHttp2Session {
  const session = connect(connection.server, {
    createConnection: () => socket,
    maxSessionMemory: maxSessionMegabytes,
    settings: { enablePush: false, initialWindowSize: streamWindowBytes },
  });
  // What ends it is told to each request on it.
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
    const stream = beginStream(session, connection, request);
    let failure: Error | undefined;
    const ended = new Error(`Cannot read the answer of ${connection.server}: the stream ended`);
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
      stream.setTimeout(limits.silenceMs, () => fail(silent(connection, limits.silenceMs)));
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

function beginStream(
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

/** Only requests keep the program running. */
function release(session: Session): void {
  session.streams -= 1;
  if (session.streams === 0 && !session.http2.destroyed) session.http2.unref();
}

const isRefusedStream = ({ rstCode }: ClientHttp2Stream): boolean =>
  rstCode === constants.NGHTTP2_REFUSED_STREAM;

/** The server did nothing with the request. */
function refusal(server: string): Error {
  const code = 'ERR_HTTP2_STREAM_REFUSED';
  return Object.assign(new Error(`${server} refuses more requests on this connection`), { code });
}

/** Who stops reading ends the stream, but not in the middle of reading it. */
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
