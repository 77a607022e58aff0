// Who is asked about names outside of the cluster, and in which order.
import { isWithin, type WireName } from '../wire/names.ts';

export type ServerAddress = { readonly host: string; readonly port: number };

/** The servers for a part of the name space; the root for all that has no others. */
export type ServerGroup = { readonly zone: WireName; readonly servers: readonly ServerAddress[] };

export type ServerHealth = {
  /** In the order to try: those that work first, beginning anywhere among them. */
  readonly order: (servers: readonly ServerAddress[]) => readonly ServerAddress[];
  /** Whether the server has just gone from working to not working. */
  readonly failed: (server: ServerAddress) => boolean;
  readonly worked: (server: ServerAddress) => void;
  readonly isDown: (server: ServerAddress) => boolean;
};

/** CoreDNS' `max_fails`: that many failures in a row, and a server counts as down. */
const maxFailures = 2;

/** The group with the longest zone around the name. */
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
