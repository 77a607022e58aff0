// /metrics, /proxyMode, /configz and /healthz on port 10249 (KPX-35).
import type { ServerResponse } from 'node:http';
import { type HttpServer, type ListenOptions, serveHttp } from './serve-http.ts';

export type MetricsServerOptions = ListenOptions & {
  readonly metricsText: () => string;
  readonly mode: string;
  /** The settings in effect. */
  readonly config: unknown;
};

const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

export function serveMetrics(options: MetricsServerOptions): Promise<HttpServer> {
  const { metricsText, mode, config } = options;
  return serveHttp((request, response) => {
    switch ((request.url ?? '/').split('?')[0]) {
      case '/metrics':
        return answer(response, metricsText(), metricsType);
      case '/proxyMode':
        return answer(response, mode);
      case '/configz':
        return answer(response, JSON.stringify({ kubeproxy: config }), 'application/json');
      case '/healthz':
        return answer(response, 'ok');
      default:
        response.writeHead(404).end('404 page not found\n');
    }
  }, options);
}

function answer(response: ServerResponse, text: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(200, { 'content-type': type, 'x-content-type-options': 'nosniff' });
  response.end(text);
}
