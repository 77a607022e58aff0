// A server on each healthCheckNodePort that tells a balancer whether this node has endpoints of the Service (KPX-36..39).
import type { ServerResponse } from 'node:http';
import type { Family, NodePortAddresses } from '../model/state.ts';
import type { HealthCheck } from '../model/track-state.ts';
import { type HttpServer, serveHttp } from './serve-http.ts';

export type HealthChecks = {
  /** Brings the servers of a family to what is wanted; waits until they listen. */
  readonly update: (wanted: WantedChecks) => Promise<void>;
  readonly close: () => Promise<void>;
};

export type WantedChecks = {
  readonly family: Family;
  /** By `namespace/name`. */
  readonly checks: ReadonlyMap<string, HealthCheck>;
  /** Where node ports answer: a health check is one of them. */
  readonly addresses: NodePortAddresses;
};

export type HealthChecksOptions = {
  readonly isProxyHealthy: () => boolean;
  /** Told when a server cannot listen; it is tried again with the next update. */
  readonly failed: (serviceKey: string, port: number, error: Error) => void;
};

/** One Service in one family, with a server on each address. */
type Running = {
  check: HealthCheck;
  readonly hosts: readonly string[];
  readonly servers: readonly HttpServer[];
};

const anyAddress = { IPv4: '0.0.0.0', IPv6: '::' } as const;

export function createHealthChecks({ isProxyHealthy, failed }: HealthChecksOptions): HealthChecks {
  /** By family and Service. */
  const running = new Map<string, Running>();

  const open = async (
    family: Family,
    key: string,
    { check, hosts }: Omit<Running, 'servers'>,
  ): Promise<void> => {
    const state: { current?: Running } = {};
    const listener = (_: unknown, response: ServerResponse): void =>
      answer(response, key, state.current?.check.localEndpoints ?? 0, isProxyHealthy());
    const listen = (on: readonly string[]) => listenOn(on, check.port, listener);
    try {
      const servers = await listen(hosts).catch((error: unknown) => {
        // The address by which others know the node may be one that no interface has.
        if (isForeignAddress(error)) return listen([anyAddress[family]]);
        throw error;
      });
      state.current = { check, hosts, servers };
      running.set(`${family} ${key}`, state.current);
    } catch (error) {
      failed(key, check.port, error as Error);
    }
  };

  return {
    async update({ family, checks, addresses }) {
      const hosts = hostsOf(family, addresses);
      for (const [id, { check, servers, hosts: before }] of [...running]) {
        const [ofFamily, key = ''] = id.split(' ');
        const isSame = checks.get(key)?.port === check.port && `${before}` === `${hosts}`;
        if (ofFamily !== family || isSame) continue;
        running.delete(id);
        await closeAll(servers);
      }
      for (const [key, check] of checks) {
        const known = running.get(`${family} ${key}`);
        if (known === undefined) await open(family, key, { check, hosts });
        else known.check = check;
      }
    },
    async close() {
      await closeAll([...running.values()].flatMap(({ servers }) => servers));
      running.clear();
    },
  };
}

/** Everywhere also while nobody knows the node's addresses: a balancer that gets no answer takes the node out. */
function hostsOf(family: Family, addresses: NodePortAddresses): readonly string[] {
  return addresses === 'all' || addresses.length === 0 ? [anyAddress[family]] : addresses;
}

/** On all of them or on none. */
async function listenOn(
  hosts: readonly string[],
  port: number,
  listener: (request: unknown, response: ServerResponse) => void,
): Promise<readonly HttpServer[]> {
  const servers: HttpServer[] = [];
  try {
    for (const host of hosts) {
      servers.push(await serveHttp(listener, { host, port, ipv6Only: true }));
    }
  } catch (error) {
    await closeAll(servers);
    throw error;
  }
  return servers;
}

function isForeignAddress(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRNOTAVAIL';
}

async function closeAll(servers: readonly HttpServer[]): Promise<void> {
  await Promise.all(servers.map((server) => server.close()));
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
