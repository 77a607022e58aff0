// Leases for keys with a time to live. One lease serves many keys for a while, as each costs etcd a write.
import { randomInt } from 'node:crypto';
import type { EtcdClient } from './client.ts';

export type Leases = { readonly leaseFor: (ttlSeconds: number) => Promise<number> };

type Shared = { readonly id: Promise<number>; readonly untilMs: number; uses: number };

/** A lease is given to new keys for this part of its time; it lasts so much longer. */
const sharedPart = 0.05;
const maxSharingSeconds = 60;
/** A lease with very many keys makes etcd busy when it ends. */
const maxUses = 1000;

export function createLeases(client: Pick<EtcdClient, 'grantLease'>, now: () => number): Leases {
  const shared = new Map<number, Shared>();
  const grant = (ttlSeconds: number, sharingSeconds: number): Promise<number> => {
    const id = randomInt(1, 2 ** 47);
    return client.grantLease(Math.ceil(ttlSeconds + sharingSeconds), id).then(() => id);
  };
  return {
    async leaseFor(ttlSeconds) {
      const known = shared.get(ttlSeconds);
      if (known !== undefined && known.untilMs > now() && known.uses < maxUses) {
        known.uses += 1;
        return known.id;
      }
      const sharingSeconds = Math.min(ttlSeconds * sharedPart, maxSharingSeconds);
      const id = grant(ttlSeconds, sharingSeconds);
      shared.set(ttlSeconds, { id, untilMs: now() + sharingSeconds * 1000, uses: 1 });
      // One that could not be had is not to be shared.
      id.catch(() => shared.delete(ttlSeconds));
      return id;
    },
  };
}
