// /healthz and /livez on port 10256: what balancers and kubelets ask a node's proxy (KPX-32..34).
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../host/clock.ts';
import type { HealthReport } from './health.ts';
import { type HttpServer, type ListenOptions, serveHttp } from './serve-http.ts';

export type HealthzOptions = ListenOptions & {
  readonly clock: Clock;
  readonly report: (now: number) => HealthReport;
  /** Whether balancers may send new connections to the node. */
  readonly isEligible: () => boolean;
  /** Told each answer: which path, which status. */
  readonly answered: (path: 'healthz' | 'livez', code: number) => void;
};

export function serveHealthz(options: HealthzOptions): Promise<HttpServer> {
  return serveHttp((request, response) => {
    const path = (request.url ?? '/').split('?')[0];
    if (path === '/healthz') answer(response, 'healthz', options);
    else if (path === '/livez') answer(response, 'livez', options);
    else response.writeHead(404).end('404 page not found\n');
  }, options);
}

function answer(
  response: ServerResponse,
  path: 'healthz' | 'livez',
  { clock, report, isEligible, answered }: HealthzOptions,
): void {
  const now = clock.now();
  const health = report(now);
  const nodeEligible = isEligible();
  const isGood = health.isHealthy && (path === 'livez' || nodeEligible);
  const code = isGood ? 200 : 503;
  const body = {
    lastUpdated: timeText(health.lastUpdated),
    currentTime: timeText(now),
    nodeEligible,
    healthy: isGood,
    status: Object.fromEntries(
      [...health.families].map(([family, { lastUpdated, isHealthy }]) => [
        family,
        { lastUpdated: timeText(lastUpdated), healthy: isHealthy },
      ]),
    ),
  };
  response.writeHead(code, {
    'content-type': 'application/json',
    'x-content-type-options': 'nosniff',
  });
  response.end(JSON.stringify(body));
  answered(path, code);
}

const timeText = (ms: number): string => new Date(ms).toISOString();
