// /health, /ready and /metrics where CoreDNS has them, and /querylog: who asks what, for as long as somebody listens.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { limitConnections, statusBounds } from '../observe/limit-connections.ts';
import type { ServerAddress } from './forward/upstream-servers.ts';

export type StatusOptions = {
  readonly address: ServerAddress;
  readonly isReady: () => boolean;
  readonly metricsText: () => Promise<string>;
  /** Called with a function that takes lines; returns how to stop. */
  readonly followQueries: (write: (lines: readonly string[]) => void) => () => void;
};

export type StatusServer = {
  readonly address: ServerAddress;
  readonly close: () => Promise<void>;
};

const metricsType = 'text/plain; version=0.0.4; charset=utf-8';
/** Whoever reads more slowly than questions come misses some. */
const maxUnread = 1024 * 1024;

export async function serveStatus(options: StatusOptions): Promise<StatusServer> {
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?')[0];
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      answer(response, 405, 'method not allowed\n');
    } else if (path === '/health') answer(response, 200, 'OK');
    else if (path === '/ready') {
      if (options.isReady()) answer(response, 200, 'OK');
      else answer(response, 503, 'kubernetes');
    } else if (path === '/metrics') {
      options.metricsText().then(
        (text) => answer(response, 200, text, metricsType),
        () => answer(response, 500, 'cannot read the metrics\n'),
      );
    } else if (path === '/querylog') follow(response, options);
    else answer(response, 404, '404 page not found\n');
  });
  limitConnections(server, statusBounds);
  server.listen(options.address.port, options.address.host);
  await once(server, 'listening');
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
  return {
    address: { ...options.address, port },
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function follow(response: ServerResponse, { followQueries }: StatusOptions): void {
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  response.flushHeaders();
  const stop = followQueries((lines) => {
    if (response.writableLength < maxUnread) response.write(`${lines.join('\n')}\n`);
  });
  response.on('close', stop);
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
