// The endpoints of a Service from its slices, by port name and protocol, with their conditions and hints.
import { addressOfFamily } from '../../ip/family-address.ts';
import type { Endpoint, Family } from './state.ts';
import type { EndpointFacts, TrimmedSlice } from './trim-objects.ts';

export type EndpointEntry = Endpoint & { readonly facts: EndpointFacts };

/** By `portId`. */
export type EndpointsByPort = ReadonlyMap<string, readonly EndpointEntry[]>;

export type EndpointsOptions = { readonly family: Family; readonly nodeName: string };

export function endpointsByPort(
  slices: readonly TrimmedSlice[],
  options: EndpointsOptions,
): EndpointsByPort {
  const byPort = new Map<string, Map<string, EndpointEntry>>();
  for (const slice of slices) {
    // Slices of the other family, and of type FQDN, are not used (KPX-04).
    if (slice.addressType === options.family) addSlice(byPort, slice, options);
  }
  const sorted = new Map<string, readonly EndpointEntry[]>();
  for (const [id, entries] of byPort) sorted.set(id, [...entries.values()].sort(compareEndpoints));
  return sorted;
}

function addSlice(
  byPort: Map<string, Map<string, EndpointEntry>>,
  { ports, addresses, facts }: TrimmedSlice,
  { family, nodeName }: EndpointsOptions,
): void {
  for (const { id, port } of ports) {
    const entries = byPort.get(id) ?? new Map<string, EndpointEntry>();
    byPort.set(id, entries);
    for (const [at, about] of facts.entries()) {
      const ip = addressOfFamily(addresses[at] ?? '', family);
      // An endpoint is local when it is on this proxy's node (KPX-08).
      const isLocal = about.nodeName === nodeName;
      if (ip !== undefined) addPreferred(entries, { ip, port, isLocal, facts: about });
    }
  }
}

/** The same address and port in several slices counts once, whatever their order (KPX-07). */
function addPreferred(entries: Map<string, EndpointEntry>, entry: EndpointEntry): void {
  const key = `${entry.ip} ${entry.port}`;
  const known = entries.get(key);
  if (known === undefined || rank(entry) > rank(known)) entries.set(key, entry);
}

function rank({ isLocal, facts }: EndpointEntry): number {
  const { isTerminating, isReady, isServing } = facts;
  return (isTerminating ? 0 : 8) + (isReady ? 4 : 0) + (isServing ? 2 : 0) + (isLocal ? 1 : 0);
}

/** Any stable order: rules must not change when slices arrive in another order. */
function compareEndpoints(a: Endpoint, b: Endpoint): number {
  if (a.ip !== b.ip) return a.ip < b.ip ? -1 : 1;
  return a.port - b.port;
}
