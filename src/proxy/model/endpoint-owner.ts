// Which Service an address is an endpoint of. There may be 100,000 endpoints and few addresses that Services name: results are cached
// for those addresses, until a slice with the address changes.
import { apiServerKey, apiServerOwns } from '../../kinds/service/address-owners.ts';
import type { TrimmedSlice } from './trim-objects.ts';

export type EndpointOwners = {
  /** Why a Service may not capture the address; undefined: it is no endpoint. */
  readonly ownerOf: (ip: string) => string | undefined;
  /** Endpoints with these addresses were added, changed or removed. */
  readonly changed: (addresses: readonly string[]) => void;
};

/** A cluster names far fewer addresses. Above this the cache is cleared. */
const maxCached = 50_000;

export function createEndpointOwners(slices: () => Iterable<TrimmedSlice>): EndpointOwners {
  const cached = new Map<string, string | undefined>();
  let all: ReadonlyMap<string, string> | undefined;
  return {
    ownerOf(ip) {
      if (cached.has(ip)) return cached.get(ip);
      // A starting proxy requests many in a row: one pass over all slices is enough for them.
      all ??= ownersIn(slices());
      if (cached.size >= maxCached) cached.clear();
      const owner = all.get(ip);
      cached.set(ip, owner);
      return owner;
    },
    changed(addresses) {
      all = undefined;
      if (cached.size > 0) for (const ip of addresses) cached.delete(ip);
    },
  };
}

/** An endpoint with a node is a pod; one written by hand may be anything. */
function ownersIn(slices: Iterable<TrimmedSlice>): ReadonlyMap<string, string> {
  const owners = new Map<string, string>();
  for (const { addresses, facts, serviceKey } of slices) {
    const isServer = serviceKey === apiServerKey;
    for (const [at, ip] of addresses.entries()) {
      if (isServer) owners.set(ip, apiServerOwns);
      else if ((facts[at]?.nodeName ?? '') !== '' && !owners.has(ip))
        owners.set(ip, `it is an endpoint of ${serviceKey ?? 'a pod'}`);
    }
  }
  return owners;
}
