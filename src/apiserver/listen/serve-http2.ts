// One request over HTTP/2, from its head to the end of its answer. On Node's streams themselves: its objects in the
// manner of HTTP/1.1 cost a third of a get.
import {
  constants,
  type Http2Session,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { endLater, endSessionLater, resetLater } from '../../host/end-later.ts';
import { type ApiRequest, type ApiResponse, isStream, isTunnel } from '../message.ts';
import { type Connection, connectionOf } from './connection.ts';
import { createDisconnect } from './disconnect.ts';
import { isResetTooMany } from './pace-streams.ts';
import { readBody } from './read-body.ts';
import { auditIdOf, separateHeaders, splitUrl } from './request-head.ts';
import { endTurn, takeTurn } from './request-slots.ts';
import { asBytes } from './serve-http1.ts';
import { openSink } from './sink.ts';
import type { ServerState } from './state.ts';

export type Http2Head = {
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
};

/** Rejects when the answer could not be made or written. */
export async function serveHttp2(
  state: ServerState,
  stream: ServerHttp2Stream,
  { headers, rawHeaders }: Http2Head,
): Promise<void> {
  const { session } = stream;
  if (session === undefined) return;
  const connection = connectionOf(session, session.socket as TLSSocket, state.authority);
  // The client may vanish at any time; what was being written is then lost on purpose.
  stream.on('error', ignore);
  if (connection.isRefused) return;
  stream.on('aborted', () => {
    if (!stream.headersSent) countReset(connection, session);
    // Node keeps a stream that was reset without an error for as long as something is unread, which is for ever.
    endLater(stream);
  });
  if (!state.pacer.beginsNow(connection.burst) && !(await beginsLater(state, stream))) return;
  const turn = takeTurn(connection, atOnce, (forget) => stream.once('close', forget));
  if (turn !== undefined) {
    await turn;
    if (stream.destroyed) {
      endTurn(connection, atOnce);
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
  const disconnect = createDisconnect();
  const method = headers[':method'] ?? '';
  const auditId = auditIdOf(headers as ApiRequest['headers']);
  const exchange: Exchange = { stream, connection, auditId, isHead: method === 'HEAD', held: 0 };
  state.requests += 1;
  stream.on('close', () => {
    state.requests -= 1;
    connection.held -= exchange.held;
    endTurn(connection, atOnce);
    disconnect.happens();
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
    authenticated: connection.authenticated,
    tunnels: false,
    signal: disconnect.signal,
    auditId,
  });
  if (stream.destroyed || disconnect.happened()) return;
  write(state, reply, exchange);
}

const ignore = (): void => {};

/** False when it was reset before. */
function beginsLater({ pacer }: ServerState, stream: ServerHttp2Stream): Promise<boolean> {
  return new Promise((resolve) => {
    pacer.queue(() => {
      const isOpen = !stream.aborted && !stream.destroyed;
      resolve(isOpen);
      return isOpen;
    });
  });
}

/** Who asks and takes it back again and again is told to calm down, and loses the connection. */
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
  /** Bytes of the answer, once it is sent. */
  held: number;
};

/** As many as there are streams; what they leave unread is what bounds them. */
const atOnce = Number.POSITIVE_INFINITY;

function write(state: ServerState, reply: ApiResponse, exchange: Exchange): void {
  const { body } = reply;
  const { stream, connection, isHead } = exchange;
  const head = headOf(reply, exchange.auditId);
  // Only who has a connection to hand over gets one.
  if (isTunnel(body)) throw new Error('a tunnel was not asked for');
  if (isStream(body)) {
    stream.respond(head);
    const sink = openSink(stream, connection, state);
    body.start(sink);
    if (state.draining) sink.end();
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

/** Above this, a reader that does not take it is looked at. */
const noticedBytes = 64 * 1024;

function account(state: ServerState, exchange: Exchange, length: number): void {
  const { stream, connection } = exchange;
  exchange.held = length;
  connection.held += length;
  if (length <= noticedBytes) return;
  const reader = {
    connection,
    unread: () => stream.writableLength,
    cut: () => resetLater(stream, constants.NGHTTP2_ENHANCE_YOUR_CALM),
    isWhole: true,
  };
  state.unread.wrote(reader, length);
  stream.once('close', () => state.unread.gone(reader));
}

function headOf({ status, headers }: ApiResponse, auditId: string): OutgoingHttpHeaders {
  const head: OutgoingHttpHeaders = { ':status': status, 'audit-id': auditId };
  if (headers['cache-control'] === undefined) head['cache-control'] = 'no-cache, private';
  for (const name in headers) {
    const value = headers[name];
    head[name] =
      typeof value === 'string' && name !== 'warning' ? value : [value ?? []].flat().map(asBytes);
  }
  return head;
}
