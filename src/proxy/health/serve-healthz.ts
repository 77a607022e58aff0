// /healthz and /livez on port 10256: for load balancers and the kubelet (KPX-32..34).
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../host/clock.ts';
import { type StatusServer, sendJson, serveStatus } from '../../observe/serve-status.ts';
import type { ListenAddress } from '../config.ts';
import type { HealthReport } from './health.ts';

export type HealthzOptions = ListenAddress & {
  readonly clock: Clock;
  readonly report: (now: number) => HealthReport;
  /** Whether balancers may send new connections to the node. */
  readonly isEligible: () => boolean;
  /** Called after each response. */
  readonly responded: (path: 'healthz' | 'livez', code: number) => void;
};

export function serveHealthz(options: HealthzOptions): Promise<StatusServer> {
  const { host, port } = options;
  return serveStatus({
    ...{ host, port, allowsAnyMethod: true },
    routes: {
      '/healthz': (response) => respond(response, 'healthz', options),
      '/livez': (response) => respond(response, 'livez', options),
    },
  });
}

function respond(
  response: ServerResponse,
  path: 'healthz' | 'livez',
  { clock, report, isEligible, responded }: HealthzOptions,
): void {
  const now = clock.now();
  const health = report(now);
  const nodeEligible = isEligible();
  const isGood = health.isHealthy && (path === 'livez' || nodeEligible);
  const code = isGood ? 200 : 503;
  sendJson(response, code, {
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
  });
  responded(path, code);
}

const timeText = (ms: number): string => new Date(ms).toISOString();
