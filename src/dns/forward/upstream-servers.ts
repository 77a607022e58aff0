// Chooses the upstream servers of a name and their order.
import { isWithin, type WireName } from '../wire/names.ts';

export type ServerAddress = { readonly host: string; readonly port: number };

/** The servers of a zone; the root zone for names without their own servers. */
export type ServerGroup = { readonly zone: WireName; readonly servers: readonly ServerAddress[] };

export type ServerHealth = {
  /** In the order to try: healthy servers first, starting at a random one. */
  readonly order: (servers: readonly ServerAddress[]) => readonly ServerAddress[];
  /** Records a failure; true when the server has just become unhealthy. */
  readonly failed: (server: ServerAddress) => boolean;
  readonly worked: (server: ServerAddress) => void;
  readonly isDown: (server: ServerAddress) => boolean;
};

/** CoreDNS' `max_fails`: after this many failures in a row a server is down. */
const maxFailures = 2;

/** The group with the longest zone that contains the name. */
export function groupFor(groups: readonly ServerGroup[], name: WireName): ServerGroup | undefined {
  let best: ServerGroup | undefined;
  for (const group of groups) {
    const isBetter = best === undefined || group.zone.length > best.zone.length;
    if (isBetter && isWithin(name, group.zone)) best = group;
  }
  return best;
}

export function serverText({ host, port }: ServerAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** `random` is in [0, 1). */
export function createServerHealth(random: () => number): ServerHealth {
  const failures = new Map<string, number>();
  const count = (server: ServerAddress): number => failures.get(serverText(server)) ?? 0;
  const isDown = (server: ServerAddress): boolean => count(server) >= maxFailures;
  return {
    order(servers) {
      const start = Math.floor(random() * servers.length);
      const turned = [...servers.slice(start), ...servers.slice(0, start)];
      return [...turned.filter((server) => !isDown(server)), ...turned.filter(isDown)];
    },
    failed(server) {
      failures.set(serverText(server), count(server) + 1);
      return count(server) === maxFailures;
    },
    worked: (server) => void failures.delete(serverText(server)),
    isDown,
  };
}
