// A server on each healthCheckNodePort that tells a balancer whether this node has endpoints of the Service (KPX-36..39).
import type { ServerResponse } from 'node:http';
import { type HttpServer, serveHttp } from './serve-http.ts';
import type { Family } from './state.ts';
import type { HealthCheck } from './track-state.ts';

export type HealthChecks = {
  /** Brings the servers to what is wanted, by `namespace/name`; waits until they listen. */
  readonly update: (family: Family, wanted: ReadonlyMap<string, HealthCheck>) => Promise<void>;
  readonly close: () => Promise<void>;
};

export type HealthChecksOptions = {
  readonly isProxyHealthy: () => boolean;
  /** Told when a server cannot listen; it is tried again with the next update. */
  readonly failed: (serviceKey: string, port: number, error: Error) => void;
};

type Running = { check: HealthCheck; readonly server: HttpServer };

const anyAddress = { IPv4: '0.0.0.0', IPv6: '::' } as const;

export function createHealthChecks({ isProxyHealthy, failed }: HealthChecksOptions): HealthChecks {
  /** By family and Service. */
  const running = new Map<string, Running>();

  const open = async (family: Family, key: string, check: HealthCheck): Promise<void> => {
    const state: { current?: Running } = {};
    try {
      const server = await serveHttp(
        (_, response) =>
          answer(response, key, state.current?.check.localEndpoints ?? 0, isProxyHealthy()),
        { host: anyAddress[family], port: check.port, ipv6Only: true },
      );
      state.current = { check, server };
      running.set(`${family} ${key}`, state.current);
    } catch (error) {
      failed(key, check.port, error as Error);
    }
  };

  return {
    async update(family, wanted) {
      for (const [id, { check, server }] of [...running]) {
        const [ofFamily, key = ''] = id.split(' ');
        if (ofFamily !== family || wanted.get(key)?.port === check.port) continue;
        running.delete(id);
        await server.close();
      }
      for (const [key, check] of wanted) {
        const known = running.get(`${family} ${key}`);
        if (known === undefined) await open(family, key, check);
        else known.check = check;
      }
    },
    async close() {
      await Promise.all([...running.values()].map(({ server }) => server.close()));
      running.clear();
    },
  };
}

function answer(
  response: ServerResponse,
  serviceKey: string,
  localEndpoints: number,
  serviceProxyHealthy: boolean,
): void {
  const [namespace, name] = serviceKey.split('/');
  response.writeHead(localEndpoints > 0 && serviceProxyHealthy ? 200 : 503, {
    'content-type': 'application/json',
    'x-content-type-options': 'nosniff',
    'x-load-balancing-endpoint-weight': String(localEndpoints),
  });
  response.end(
    JSON.stringify({ service: { namespace, name }, localEndpoints, serviceProxyHealthy }),
  );
}
