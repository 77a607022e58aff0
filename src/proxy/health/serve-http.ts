// Small HTTP servers that answer questions about the proxy; they listen, they do not read bodies.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { limitConnections, statusBounds } from '../../observe/limit-connections.ts';

export type HttpServer = { readonly port: number; readonly close: () => Promise<void> };

export type ListenOptions = {
  readonly host: string;
  readonly port: number;
  /** Only IPv6 connections on `::`, so that IPv4 can have a server of its own. */
  readonly ipv6Only?: boolean;
};

/** A probe that sends its request no faster than this is no probe. */
const requestTimeoutMs = 5000;

export async function serveHttp(
  listener: RequestListener,
  { host, port, ipv6Only = false }: ListenOptions,
): Promise<HttpServer> {
  const server = createServer(listener);
  limitConnections(server, { ...statusBounds, requestTimeoutMs });
  server.listen({ host, port, ipv6Only });
  await once(server, 'listening');
  // An error later, as of a connection that breaks early, must not end the program.
  server.on('error', () => {});
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
