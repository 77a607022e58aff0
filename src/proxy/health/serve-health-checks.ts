// A server on each healthCheckNodePort, from which load balancers learn whether this node has endpoints of the Service (KPX-36..39).
import {
  type StatusHandler,
  type StatusServer,
  sendJson,
  serveStatus,
} from '../../observe/serve-status.ts';
import type { Family, NodePortAddresses } from '../model/state.ts';
import type { HealthCheck } from '../model/track-state.ts';

export type HealthChecks = {
  /** Opens and closes servers of the family until they match; resolves when all listen. */
  readonly update: (desired: DesiredChecks) => Promise<void>;
  readonly close: () => Promise<void>;
};

export type DesiredChecks = {
  readonly family: Family;
  /** By `namespace/name`. */
  readonly checks: ReadonlyMap<string, HealthCheck>;
  /** A health check port is a node port, and answers on the same addresses. */
  readonly addresses: NodePortAddresses;
};

export type HealthChecksOptions = {
  readonly isProxyHealthy: () => boolean;
  /** Called when a server cannot listen; the next update tries again. */
  readonly failed: (serviceKey: string, port: number, error: Error) => void;
};

/** One Service in one family, with a server on each address. */
type Running = {
  check: HealthCheck;
  readonly hosts: readonly string[];
  readonly servers: readonly StatusServer[];
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
    const report: StatusHandler = (response) => {
      const localEndpoints = state.current?.check.localEndpoints ?? 0;
      const [namespace, name] = key.split('/');
      const serviceProxyHealthy = isProxyHealthy();
      sendJson(
        response,
        localEndpoints > 0 && serviceProxyHealthy ? 200 : 503,
        { service: { namespace, name }, localEndpoints, serviceProxyHealthy },
        { 'x-load-balancing-endpoint-weight': String(localEndpoints) },
      );
    };
    const listen = (on: readonly string[]) => listenOn(on, check.port, report);
    try {
      const servers = await listen(hosts).catch((error: unknown) => {
        // The node's external address may be on no interface (1:1 NAT).
        if (isAddressUnavailable(error)) return listen([anyAddress[family]]);
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

/** All addresses while those of the node are unknown: a load balancer removes a node that does not answer. */
function hostsOf(family: Family, addresses: NodePortAddresses): readonly string[] {
  return addresses === 'all' || addresses.length === 0 ? [anyAddress[family]] : addresses;
}

/** On all of them or on none. Probes may use any path and method. */
async function listenOn(
  hosts: readonly string[],
  port: number,
  report: StatusHandler,
): Promise<readonly StatusServer[]> {
  const servers: StatusServer[] = [];
  const options = { port, ipv6Only: true, routes: {}, fallback: report, allowsAnyMethod: true };
  try {
    for (const host of hosts) servers.push(await serveStatus({ ...options, host }));
  } catch (error) {
    await closeAll(servers);
    throw error;
  }
  return servers;
}

function isAddressUnavailable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRNOTAVAIL';
}

async function closeAll(servers: readonly StatusServer[]): Promise<void> {
  await Promise.all(servers.map((server) => server.close()));
}
