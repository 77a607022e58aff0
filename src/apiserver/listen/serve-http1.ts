// One request over HTTP/1.1, from its head to the end of its answer.
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { type ApiRequest, type ApiResponse, isStream, isTunnel } from '../message.ts';
import { type Connection, connectionOf } from './connection.ts';
import { createDisconnect } from './disconnect.ts';
import { readBody } from './read-body.ts';
import { auditIdOf, separateHeaders, splitUrl } from './request-head.ts';
import { endTurn, takeTurn } from './request-slots.ts';
import { openSink } from './sink.ts';
import type { ServerState } from './state.ts';
import { handOver } from './upgrade.ts';

type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly connection: Connection;
  readonly auditId: string;
  /** Bytes of the answer, once it is sent. */
  held: number;
};

/** Answers leave in the order of the requests, so the next one is not worked on before the one before has left. */
const atOnce = 1;
/** Clients that send a request before they have the answer to the last one are rare, and none goes this far. */
const maxPipelined = 100;

/** Rejects when the answer could not be made or written. */
export async function serveHttp1(
  state: ServerState,
  request: IncomingMessage,
  response: ServerResponse,
  tunnels = false,
): Promise<void> {
  const socket = request.socket as TLSSocket;
  const connection = connectionOf(socket, socket, state.authority);
  const turn = takeTurn(connection, atOnce, () => {});
  if (turn !== undefined) {
    if (connection.waiting.size() > maxPipelined) socket.destroy();
    await turn;
    if (socket.destroyed) {
      endTurn(connection, atOnce);
      return;
    }
  }
  const disconnect = createDisconnect();
  const headers = request.headers as ApiRequest['headers'];
  const auditId = auditIdOf(headers);
  const exchange: Exchange = { request, response, connection, auditId, held: 0 };
  state.requests += 1;
  response.on('close', () => {
    end(state, exchange);
    disconnect.happens();
  });
  // The client may vanish at any time; what was being written is then lost on purpose.
  response.on('error', disconnect.happens);
  const { path, query, rawQuery } = splitUrl(request.url ?? '/');
  const reply = await state.handle({
    method: request.method ?? '',
    path,
    query,
    rawQuery,
    headers: separateHeaders(headers, request.rawHeaders),
    body: () => readBody(request, state.bodies),
    peer: connection.peer,
    authenticated: connection.authenticated,
    tunnels,
    signal: disconnect.signal,
    auditId,
  });
  if (response.destroyed || disconnect.happened()) return;
  write(state, reply, exchange);
}

function end(state: ServerState, { connection, held }: Exchange): void {
  state.requests -= 1;
  connection.held -= held;
  endTurn(connection, atOnce);
}

function write(state: ServerState, reply: ApiResponse, exchange: Exchange): void {
  const { status, body } = reply;
  const { request, response, connection } = exchange;
  const head = headOf(state, reply, exchange.auditId);
  if (isTunnel(body)) {
    // From here on the connection is not ours, and nobody hears of the end of the answer.
    end(state, exchange);
    connection.isHandedOver = true;
    handOver(response, { status, head: pairs(head), body });
    return;
  }
  if (isStream(body)) {
    response.writeHead(status, head);
    // Without this the headers of a quiet watch would wait for its first event.
    response.flushHeaders();
    const sink = openSink(response, connection, state);
    body.start(sink);
    if (state.draining) sink.end();
    return;
  }
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  head.push('content-length', String(length));
  response.writeHead(status, head);
  if (request.method === 'HEAD') response.end();
  else endWith(state, body, exchange);
}

/** Below this, a copy is cheaper than a second piece: head and body then go out as one. */
const copiedBytes = 16 * 1024;
/** Above this, a reader that does not take it is looked at. */
const noticedBytes = 64 * 1024;

function endWith(state: ServerState, body: Uint8Array | string, exchange: Exchange): void {
  const { request, response, connection } = exchange;
  if (typeof body === 'string') {
    response.end(body);
    return;
  }
  exchange.held = body.length;
  connection.held += body.length;
  if (body.length <= copiedBytes) {
    response.end(latin1(body), 'latin1');
    return;
  }
  if (body.length <= noticedBytes) {
    response.end(body);
    return;
  }
  const left = state.writePieces(response, body);
  const reader = {
    connection,
    unread: () => response.writableLength + left(),
    cut: () => void request.socket.destroy(),
    isWhole: true,
  };
  state.unread.wrote(reader, body.length);
  response.once('close', () => state.unread.gone(reader));
}

function latin1(bytes: Uint8Array): string {
  return (
    bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  ).toString('latin1');
}

/** Names and values in turn, which Node writes without looking them up again. */
function headOf(state: ServerState, { headers }: ApiResponse, auditId: string): string[] {
  const head = ['audit-id', auditId];
  if (headers['cache-control'] === undefined) head.push('cache-control', 'no-cache, private');
  for (const name in headers) {
    const value = headers[name];
    if (typeof value === 'string') head.push(name, name === 'warning' ? asBytes(value) : value);
    else for (const one of value ?? []) head.push(name, asBytes(one));
  }
  if (state.draining) head.push('connection', 'close');
  return head;
}

/** Node writes a header's characters as bytes and refuses those that are none; its text is UTF-8. */
export function asBytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

function pairs(head: readonly string[]): OutgoingHttpHeaders {
  const named: Record<string, string[]> = {};
  for (let at = 0; at < head.length; at += 2) {
    const name = head[at] ?? '';
    named[name] = [...(named[name] ?? []), head[at + 1] ?? ''];
  }
  return named;
}
