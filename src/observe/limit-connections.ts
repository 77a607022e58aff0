// Limits of the small HTTP servers: connections in total and of each client address, and how long a request may take.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

export type ConnectionBounds = {
  readonly maxConnections: number;
  /** So that no client uses up the total. The probes and scrapers of this machine share one address, the loopback. */
  readonly maxPerAddress: number;
  /** For the headers of a request, and for all of it. */
  readonly requestTimeoutMs: number;
  /** Between two requests of a connection. */
  readonly idleTimeoutMs: number;
};

/** A few connections for each probe and scraper. What sends its request more slowly than this is neither. */
export const statusBounds: ConnectionBounds = {
  maxConnections: 512,
  maxPerAddress: 128,
  requestTimeoutMs: 5000,
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
      const remaining = (counts.get(address) ?? 1) - 1;
      if (remaining > 0) counts.set(address, remaining);
      else counts.delete(address);
    });
    if (open > maxPerAddress) socket.destroy();
  });
}
