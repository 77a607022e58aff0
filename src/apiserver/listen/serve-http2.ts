// Serves one request over HTTP/2, from its head to the end of its response. Works on the streams of Node.js directly: its
// compatibility API (request and response objects) costs a third of a get.
import {
  constants,
  type Http2Session,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { endLater, endSessionLater, resetLater } from '../../host/end-later.ts';
import { maxUntrackedBytes } from '../limits/unread-bytes.ts';
import { type ApiRequest, type ApiResponse, isStream, isTunnel } from '../message.ts';
import { type Connection, connectionOf } from './connection.ts';
import { encodeHeaderValue } from './header-value.ts';
import { createLazyAbort } from './lazy-abort.ts';
import { isResetTooMany } from './pace-streams.ts';
import { readBody } from './read-body.ts';
import { auditIdOf, separateHeaders, splitUrl } from './request-head.ts';
import { acquireSlot, releaseSlot } from './request-slots.ts';

import { openSink } from './sink.ts';
import type { ServerState } from './state.ts';

export type Http2Head = {
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
};

/** Rejects when the response could not be made or written. */
export async function serveHttp2(
  state: ServerState,
  stream: ServerHttp2Stream,
  { headers, rawHeaders }: Http2Head,
): Promise<void> {
  const { session } = stream;
  if (session === undefined) return;
  const connection = connectionOf(session, session.socket as TLSSocket, state.clientCa);
  // The client may disconnect at any time.
  stream.on('error', ignore);
  if (connection.isRefused) return;
  stream.on('aborted', () => {
    if (!stream.headersSent) countReset(connection, session);
    // Node.js keeps a stream that was reset without an error until its unread data is read, which never happens.
    endLater(stream);
  });
  if (!state.pacer.startsNow(connection.burst) && !(await waitInQueue(state, stream))) return;
  const slot = acquireSlot(connection, maxConcurrent, (dequeue) => stream.once('close', dequeue));
  if (slot !== undefined) {
    await slot;
    if (stream.destroyed) {
      releaseSlot(connection, maxConcurrent);
      return;
    }
  }
  await respond(state, { headers, rawHeaders }, stream, connection);
}

async function respond(
  state: ServerState,
  { headers, rawHeaders }: Http2Head,
  stream: ServerHttp2Stream,
  connection: Connection,
): Promise<void> {
  const disconnect = createLazyAbort();
  const method = headers[':method'] ?? '';
  const auditId = auditIdOf(headers as ApiRequest['headers']);
  const exchange: Exchange = {
    stream,
    connection,
    auditId,
    isHead: method === 'HEAD',
    unreadBytes: 0,
  };
  state.requests += 1;
  stream.on('close', () => {
    state.requests -= 1;
    connection.unreadBytes -= exchange.unreadBytes;
    releaseSlot(connection, maxConcurrent);
    disconnect.abort();
  });
  if (method === 'CONNECT') {
    stream.respond({ ':status': 405 }, { endStream: true });
    return;
  }
  if (headers.expect === '100-continue') stream.additionalHeaders({ ':status': 100 });
  const { path, query, rawQuery } = splitUrl(headers[':path'] ?? '/');
  const reply = await state.handle({
    method,
    path,
    query,
    rawQuery,
    headers: separateHeaders(headers as ApiRequest['headers'], rawHeaders),
    body: () => readBody(stream, state.bodies),
    peer: connection.peer,
    authenticated: connection.onAuthenticated,
    tunnels: false,
    signal: disconnect.signal,
    auditId,
  });
  if (stream.destroyed || disconnect.isAborted()) return;
  write(state, reply, exchange);
}

const ignore = (): void => {};

/** False when it was reset meanwhile. */
function waitInQueue({ pacer }: ServerState, stream: ServerHttp2Stream): Promise<boolean> {
  return new Promise((resolve) => {
    pacer.queue(() => {
      const isOpen = !stream.aborted && !stream.destroyed;
      resolve(isOpen);
      return isOpen;
    });
  });
}

/** A client that resets too many requests gets ENHANCE_YOUR_CALM and loses its connection. */
function countReset(connection: Connection, session: Http2Session): void {
  if (connection.isRefused || !isResetTooMany(connection.burst, performance.now())) return;
  connection.isRefused = true;
  endSessionLater(session, constants.NGHTTP2_ENHANCE_YOUR_CALM);
}

type Exchange = {
  readonly stream: ServerHttp2Stream;
  readonly connection: Connection;
  readonly auditId: string;
  readonly isHead: boolean;
  /** Bytes of the response, once it is sent. */
  unreadBytes: number;
};

/** Streams are limited by the settings of the session, and by their unread bytes. */
const maxConcurrent = Number.POSITIVE_INFINITY;

function write(state: ServerState, reply: ApiResponse, exchange: Exchange): void {
  const { body } = reply;
  const { stream, connection, isHead } = exchange;
  const head = headOf(reply, exchange.auditId);
  if (isTunnel(body)) throw new Error('a tunnel needs an HTTP/1.1 connection, this is HTTP/2');
  if (isStream(body)) {
    stream.respond(head);
    const sink = openSink(stream, connection, state);
    body.start(sink);
    if (state.isDraining) sink.end();
    return;
  }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  head['content-length'] = bytes.length;
  if (isHead || bytes.length === 0) {
    stream.respond(head, { endStream: true });
    return;
  }
  stream.respond(head);
  stream.end(bytes);
  account(state, exchange, bytes.length);
}

function account(state: ServerState, exchange: Exchange, length: number): void {
  const { stream, connection } = exchange;
  exchange.unreadBytes = length;
  connection.unreadBytes += length;
  if (length <= maxUntrackedBytes) return;
  const reader = {
    connection,
    unread: () => stream.writableLength,
    cut: () => resetLater(stream, constants.NGHTTP2_ENHANCE_YOUR_CALM),
    isComplete: true,
  };
  state.unread.wrote(reader, length);
  stream.once('close', () => state.unread.closed(reader));
}

function headOf({ status, headers }: ApiResponse, auditId: string): OutgoingHttpHeaders {
  const head: OutgoingHttpHeaders = { ':status': status, 'audit-id': auditId };
  if (headers['cache-control'] === undefined) head['cache-control'] = 'no-cache, private';
  for (const name in headers) {
    const value = headers[name];
    head[name] =
      typeof value === 'string' && name !== 'warning'
        ? value
        : [value ?? []].flat().map(encodeHeaderValue);
  }
  return head;
}
