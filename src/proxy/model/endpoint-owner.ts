// Whose endpoint an address is. There may be 100,000 endpoints, and few addresses that Services name: what was found is kept
// for those, until a slice with the address changes.
import { apiServerKey, apiServerOwns } from '../../kinds/service/address-owners.ts';
import type { TrimmedSlice } from './trim-objects.ts';

export type EndpointOwners = {
  /** Why the address is not for Services to name; undefined: it is nobody's endpoint. */
  readonly ownerOf: (ip: string) => string | undefined;
  /** Endpoints with these addresses have come, changed or gone. */
  readonly changed: (addresses: readonly string[]) => void;
};

/** Of asked addresses. A cluster names far fewer; over it everything is looked up anew. */
const maxKnown = 50_000;

export function createEndpointOwners(slices: () => Iterable<TrimmedSlice>): EndpointOwners {
  const known = new Map<string, string | undefined>();
  let all: ReadonlyMap<string, string> | undefined;
  return {
    ownerOf(ip) {
      if (known.has(ip)) return known.get(ip);
      // Many are asked for in a row when a proxy starts: one pass over all slices serves them.
      all ??= ownersIn(slices());
      if (known.size >= maxKnown) known.clear();
      const owner = all.get(ip);
      known.set(ip, owner);
      return owner;
    },
    changed(addresses) {
      all = undefined;
      if (known.size > 0) for (const ip of addresses) known.delete(ip);
    },
  };
}

/** An endpoint on a node is a pod; one that people wrote by hand may be anything. */
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
