// Indexes the few Services that name external IPs, or have load balancer addresses in their status, by these addresses.
import type { RefusedAddress } from './own-addresses.ts';
import type { PortTable } from './port-table.ts';

export type NamedAddresses = {
  readonly set: (serviceKey: string, addresses: readonly string[]) => void;
  /** Services that name one of the addresses. */
  readonly naming: (addresses: readonly string[]) => readonly string[];
  /** All Services that name an address. */
  readonly services: () => readonly string[];
};

export function createNamedAddresses(): NamedAddresses {
  const byService = new Map<string, readonly string[]>();
  const byAddress = new Map<string, Set<string>>();
  const forget = (serviceKey: string): void => {
    for (const ip of byService.get(serviceKey) ?? []) {
      const services = byAddress.get(ip);
      services?.delete(serviceKey);
      if (services?.size === 0) byAddress.delete(ip);
    }
    byService.delete(serviceKey);
  };
  return {
    set(serviceKey, addresses) {
      forget(serviceKey);
      if (addresses.length === 0) return;
      byService.set(serviceKey, addresses);
      for (const ip of addresses) {
        const services = byAddress.get(ip) ?? new Set();
        byAddress.set(ip, services.add(serviceKey));
      }
    },
    naming(addresses) {
      if (byAddress.size === 0) return [];
      return [...new Set(addresses.flatMap((ip) => [...(byAddress.get(ip) ?? [])]))];
    },
    services: () => [...byService.keys()],
  };
}

/** Addresses with other owners, and those of load balancers of other Services. */
export function withOutranked(
  refused: ReadonlyMap<string, readonly RefusedAddress[]>,
  { ports, outranked }: Pick<PortTable, 'ports' | 'outranked'>,
): ReadonlyMap<string, readonly RefusedAddress[]> {
  if (outranked.size === 0) return refused;
  const all = new Map(refused);
  for (const [key, lost] of outranked) {
    const port = ports.get(key);
    if (port === undefined) continue;
    const serviceKey = `${port.namespace}/${port.name}`;
    const known = all.get(serviceKey) ?? [];
    const more = lost
      .filter(({ ip }) => !known.some((one) => one.ip === ip))
      .map(({ ip, service }): RefusedAddress => {
        return { by: 'externalIP', ip, why: `it is an address of the load balancer of ${service}` };
      });
    all.set(serviceKey, [...known, ...more]);
  }
  return all;
}
