// HTTP/1.1 Upgrade: requests that continue with another protocol on the same connection.
import { type IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Tunnel } from '../message.ts';

/** Node.js gives the `upgrade` event a bare socket; a refused upgrade is answered with an ordinary response. */
export function createUpgradeResponse(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): ServerResponse {
  const response = new ServerResponse(request);
  socket.on('error', () => {});
  if (head.length > 0) socket.unshift(head);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Socket);
  response.on('finish', () => socket.end());
  return response;
}

type Upgraded = {
  readonly status: number;
  readonly head: OutgoingHttpHeaders;
  readonly body: Tunnel;
};

export function upgradeConnection(
  response: ServerResponse,
  { status, head, body }: Upgraded,
): void {
  const { socket } = response;
  if (socket === null) return;
  const lines = Object.entries(head).flatMap(([name, value]) =>
    [value].flat().map((one) => `${name}: ${String(one)}\r\n`),
  );
  response.detachSocket(socket);
  socket.setTimeout(0);
  socket.write(`HTTP/1.1 ${status} Switching Protocols\r\n${lines.join('')}\r\n`, 'latin1');
  body.tunnelTo(socket);
}
