// Bounds for the small HTTP servers: how many connections, how many of one address, and how long each may take.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

export type ConnectionBounds = {
  readonly maxConnections: number;
  /** No address takes the places of all others. Loopback is one address: probes and scrapers of this machine share it. */
  readonly maxPerAddress: number;
  /** For the head of a request, and for all of it. */
  readonly requestTimeoutMs: number;
  /** Of a connection between two requests. */
  readonly idleTimeoutMs: number;
};

/** Probes and scrapers: a few for each, and room for mistakes. */
export const statusBounds: ConnectionBounds = {
  maxConnections: 512,
  maxPerAddress: 128,
  requestTimeoutMs: 10_000,
  idleTimeoutMs: 30_000,
};

export function limitConnections(
  server: Pick<Server, 'on'>,
  { maxConnections, maxPerAddress, requestTimeoutMs, idleTimeoutMs }: ConnectionBounds,
): void {
  Object.assign(server, {
    maxConnections,
    headersTimeout: requestTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: idleTimeoutMs,
  });
  const counts = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const open = (counts.get(address) ?? 0) + 1;
    counts.set(address, open);
    socket.once('close', () => {
      const left = (counts.get(address) ?? 1) - 1;
      if (left > 0) counts.set(address, left);
      else counts.delete(address);
    });
    if (open > maxPerAddress) socket.destroy();
  });
}
