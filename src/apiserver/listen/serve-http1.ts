// Serves one request over HTTP/1.1, from its head to the end of its response.
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { maxUntrackedBytes } from '../limits/unread-bytes.ts';
import { type ApiRequest, type ApiResponse, isStream, isTunnel } from '../message.ts';
import { type Connection, connectionOf } from './connection.ts';
import { encodeHeaderValue } from './header-value.ts';
import { createLazyAbort } from './lazy-abort.ts';
import { readBody } from './read-body.ts';
import { auditIdOf, separateHeaders, splitUrl } from './request-head.ts';
import { acquireSlot, releaseSlot } from './request-slots.ts';
import { openSink } from './sink.ts';
import type { ServerState } from './state.ts';
import { upgradeConnection } from './upgrade.ts';

type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly connection: Connection;
  readonly auditId: string;
  /** Bytes of the response, once it is sent. */
  unreadBytes: number;
};

/** Responses are sent in the order of the requests, so a request starts when the response to the previous one is sent. */
const maxConcurrent = 1;
/** Clients that pipeline requests are rare, and none sends this many. */
const maxPipelined = 100;

/** Rejects when the response could not be made or written. */
export async function serveHttp1(
  state: ServerState,
  request: IncomingMessage,
  response: ServerResponse,
  tunnels = false,
): Promise<void> {
  const socket = request.socket as TLSSocket;
  const connection = connectionOf(socket, socket, state.clientCa);
  const slot = acquireSlot(connection, maxConcurrent, () => {});
  if (slot !== undefined) {
    if (connection.waiting.size() > maxPipelined) socket.destroy();
    await slot;
    if (socket.destroyed) {
      releaseSlot(connection, maxConcurrent);
      return;
    }
  }
  const disconnect = createLazyAbort();
  const headers = request.headers as ApiRequest['headers'];
  const auditId = auditIdOf(headers);
  const exchange: Exchange = { request, response, connection, auditId, unreadBytes: 0 };
  state.requests += 1;
  response.on('close', () => {
    end(state, exchange);
    disconnect.abort();
  });
  // The client may disconnect at any time.
  response.on('error', disconnect.abort);
  const { path, query, rawQuery } = splitUrl(request.url ?? '/');
  const reply = await state.handle({
    method: request.method ?? '',
    path,
    query,
    rawQuery,
    headers: separateHeaders(headers, request.rawHeaders),
    body: () => readBody(request, state.bodies),
    peer: connection.peer,
    authenticated: connection.onAuthenticated,
    tunnels,
    signal: disconnect.signal,
    auditId,
  });
  if (response.destroyed || disconnect.isAborted()) return;
  write(state, reply, exchange);
}

function end(state: ServerState, { connection, unreadBytes }: Exchange): void {
  state.requests -= 1;
  connection.unreadBytes -= unreadBytes;
  releaseSlot(connection, maxConcurrent);
}

function write(state: ServerState, reply: ApiResponse, exchange: Exchange): void {
  const { status, body } = reply;
  const { request, response, connection } = exchange;
  const head = headOf(state, reply, exchange.auditId);
  if (isTunnel(body)) {
    // The response is detached from its socket and will not emit `close`.
    end(state, exchange);
    connection.isUpgraded = true;
    upgradeConnection(response, { status, head: pairs(head), body });
    return;
  }
  if (isStream(body)) {
    response.writeHead(status, head);
    // Otherwise the headers of a quiet watch would wait for its first event.
    response.flushHeaders();
    const sink = openSink(response, connection, state);
    body.start(sink);
    if (state.isDraining) sink.end();
    return;
  }
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  head.push('content-length', String(length));
  response.writeHead(status, head);
  if (request.method === 'HEAD') response.end();
  else endWith(state, body, exchange);
}

/** Up to this, a copy is cheaper than a second write: head and body are sent as one. */
const copiedBytes = 16 * 1024;

function endWith(state: ServerState, body: Uint8Array | string, exchange: Exchange): void {
  const { request, response, connection } = exchange;
  if (typeof body === 'string') {
    response.end(body);
    return;
  }
  exchange.unreadBytes = body.length;
  connection.unreadBytes += body.length;
  if (body.length <= copiedBytes) {
    response.end(latin1(body), 'latin1');
    return;
  }
  if (body.length <= maxUntrackedBytes) {
    response.end(body);
    return;
  }
  const pendingBytes = state.writeInChunks(response, body);
  const reader = {
    connection,
    unread: () => response.writableLength + pendingBytes(),
    cut: () => void request.socket.destroy(),
    isComplete: true,
  };
  state.unread.wrote(reader, body.length);
  response.once('close', () => state.unread.closed(reader));
}

function latin1(bytes: Uint8Array): string {
  return (
    bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  ).toString('latin1');
}

/** Alternating names and values: Node.js writes such a list without looking names up. */
function headOf(state: ServerState, { headers }: ApiResponse, auditId: string): string[] {
  const head = ['audit-id', auditId];
  if (headers['cache-control'] === undefined) head.push('cache-control', 'no-cache, private');
  for (const name in headers) {
    const value = headers[name];
    if (typeof value === 'string')
      head.push(name, name === 'warning' ? encodeHeaderValue(value) : value);
    else for (const one of value ?? []) head.push(name, encodeHeaderValue(one));
  }
  if (state.isDraining) head.push('connection', 'close');
  return head;
}

function pairs(head: readonly string[]): OutgoingHttpHeaders {
  const named: Record<string, string[]> = {};
  for (let at = 0; at < head.length; at += 2) {
    const name = head[at] ?? '';
    named[name] = [...(named[name] ?? []), head[at + 1] ?? ''];
  }
  return named;
}
