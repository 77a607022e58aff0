// /health, /ready and /metrics where CoreDNS has them, and /querylog: a live stream of queries, for as long as a client reads it.
import type { ServerResponse } from 'node:http';
import { reportMetrics, sendText, serveStatus } from '../observe/serve-status.ts';
import type { ServerAddress } from './forward/upstream-servers.ts';

export type DnsStatusOptions = {
  readonly address: ServerAddress;
  readonly isReady: () => boolean;
  readonly metricsText: () => Promise<string>;
  /** Calls `write` with each batch of lines until the returned function is called. */
  readonly followQueries: (write: (lines: readonly string[]) => void) => () => void;
};

export type DnsStatusServer = {
  readonly address: ServerAddress;
  readonly close: () => Promise<void>;
};

/** A client that reads more slowly than queries arrive misses some of them. */
const maxUnreadBytes = 1024 * 1024;

export async function serveDnsStatus(options: DnsStatusOptions): Promise<DnsStatusServer> {
  const { address, isReady, metricsText } = options;
  const { port, close } = await serveStatus({
    ...{ host: address.host, port: address.port },
    routes: {
      '/health': (response) => sendText(response, 200, 'OK'),
      '/ready': (response) =>
        isReady() ? sendText(response, 200, 'OK') : sendText(response, 503, 'kubernetes'),
      '/metrics': reportMetrics(metricsText),
      '/querylog': (response) => streamQueries(response, options),
    },
  });
  return { address: { ...address, port }, close };
}

function streamQueries(response: ServerResponse, { followQueries }: DnsStatusOptions): void {
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  response.flushHeaders();
  const stop = followQueries((lines) => {
    if (response.writableLength < maxUnreadBytes) response.write(`${lines.join('\n')}\n`);
  });
  response.on('close', stop);
}
