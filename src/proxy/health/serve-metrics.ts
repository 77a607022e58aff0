// /metrics, /proxyMode, /configz and /healthz on port 10249 (KPX-35).
import {
  reportMetrics,
  reportOk,
  type StatusServer,
  sendJson,
  sendText,
  serveStatus,
} from '../../observe/serve-status.ts';
import type { ListenAddress } from '../config.ts';

export type MetricsServerOptions = ListenAddress & {
  readonly metricsText: () => string;
  readonly mode: string;
  /** The settings in effect. */
  readonly config: unknown;
};

export function serveMetrics(options: MetricsServerOptions): Promise<StatusServer> {
  const { host, port, metricsText, mode, config } = options;
  return serveStatus({
    ...{ host, port },
    routes: {
      '/metrics': reportMetrics(metricsText),
      '/proxyMode': (response) => sendText(response, 200, mode),
      '/configz': (response) => sendJson(response, 200, { kubeproxy: config }),
      '/healthz': reportOk,
    },
  });
}
