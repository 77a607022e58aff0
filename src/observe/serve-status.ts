// Serves what a part counts and that it lives, over plain HTTP for scrapers and probes on the machine.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { limitConnections, statusBounds } from './limit-connections.ts';

export type StatusServer = {
  readonly port: number;
  readonly close: () => Promise<void>;
};

export type StatusOptions = {
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  readonly metricsText: () => string;
  /** What is wrong with the part; undefined when nothing is. */
  readonly problem?: () => string | undefined;
};

const healthPaths = new Set(['/healthz', '/livez', '/readyz']);
/** As Prometheus' text format wants it. */
const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

export async function serveStatus(options: StatusOptions): Promise<StatusServer> {
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return answer(response, 405, 'method not allowed\n');
    }
    if (path === '/metrics') return answer(response, 200, options.metricsText(), metricsType);
    if (!healthPaths.has(path)) return answer(response, 404, '404 page not found\n');
    const problem = options.problem?.();
    return problem === undefined
      ? answer(response, 200, 'ok')
      : answer(response, 500, `${problem}\n`);
  });
  limitConnections(server, statusBounds);
  server.listen(options.port, options.host);
  await once(server, 'listening');
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

function answer(
  response: ServerResponse,
  status: number,
  text: string,
  type = 'text/plain; charset=utf-8',
): void {
  response.writeHead(status, { 'content-type': type });
  response.end(text);
}
