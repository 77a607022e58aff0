// The HTTP server for what a part reports about itself: metrics, health, readiness. Every part serves them with this one.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { limitConnections, statusBounds } from './limit-connections.ts';

export type StatusServer = {
  readonly port: number;
  readonly close: () => Promise<void>;
};

/** Writes the response, at once or later. Request bodies are not read. */
export type StatusHandler = (response: ServerResponse) => void;

export type StatusServerOptions = {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Accepts only IPv6 on `::`, so that another server can listen on the same port of IPv4. */
  readonly ipv6Only?: boolean;
  /** By path, without the query. */
  readonly routes: Readonly<Record<string, StatusHandler>>;
  /** Answers all other paths; absent: 404. */
  readonly fallback?: StatusHandler;
  /** Probes of load balancers use any method (HAProxy's default is OPTIONS); absent: GET and HEAD only. */
  readonly allowsAnyMethod?: boolean;
};

/** Prometheus' text format. */
const metricsType = 'text/plain; version=0.0.4; charset=utf-8';
const plainText = 'text/plain; charset=utf-8';

/** Rejects when the address is in use. */
export async function serveStatus(options: StatusServerOptions): Promise<StatusServer> {
  const { host, port, ipv6Only = false } = options;
  const server = createServer((request, response) => route(options, request)(response));
  limitConnections(server, statusBounds);
  server.listen({ host, port, ipv6Only });
  await once(server, 'listening');
  // Accepting fails while the process has no descriptors left (EMFILE). Clients try again; the program must go on.
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

function route(options: StatusServerOptions, request: IncomingMessage): StatusHandler {
  const { routes, fallback = notFound, allowsAnyMethod = false } = options;
  const { method, url = '/' } = request;
  if (!allowsAnyMethod && method !== 'GET' && method !== 'HEAD') return methodNotAllowed;
  const path = url.split('?', 1)[0] ?? '/';
  return Object.hasOwn(routes, path) ? (routes[path] ?? fallback) : fallback;
}

const notFound: StatusHandler = (response) => sendText(response, 404, '404 page not found\n');
const methodNotAllowed: StatusHandler = (response) =>
  sendText(response, 405, 'method not allowed\n');

/** Answers `ok` for as long as the process answers at all. */
export const reportOk: StatusHandler = (response) => sendText(response, 200, 'ok');

/** `text` in Prometheus' text format; 500 when it cannot be read. */
export function reportMetrics(text: () => string | Promise<string>): StatusHandler {
  return async (response) => {
    let metrics: string;
    try {
      metrics = await text();
    } catch (error) {
      return sendText(
        response,
        500,
        `Cannot read the metrics: ${error instanceof Error ? error.message : error}\n`,
      );
    }
    sendText(response, 200, metrics, metricsType);
  };
}

export function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  type = plainText,
): void {
  response.writeHead(status, { 'content-type': type, 'x-content-type-options': 'nosniff' });
  response.end(text);
}

/** For probes: the headers may say more than the body. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  sendText(response, status, JSON.stringify(body), 'application/json');
}
