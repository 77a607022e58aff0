// Leases for keys with a time to live. Keys that are written close together share a lease, because each costs etcd a write.
import { randomInt } from 'node:crypto';
import type { EtcdClient } from './client.ts';

export type Leases = { readonly leaseFor: (ttlSeconds: number) => Promise<number> };

type Shared = { readonly id: Promise<number>; readonly untilMs: number; uses: number };

/** A lease is shared by new keys for this fraction of its time, and lasts that much longer. */
const sharedFraction = 0.05;
const maxSharingSeconds = 60;
/** Revoking a lease deletes all its keys at once, which keeps etcd busy. */
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
      const sharingSeconds = Math.min(ttlSeconds * sharedFraction, maxSharingSeconds);
      const id = grant(ttlSeconds, sharingSeconds);
      shared.set(ttlSeconds, { id, untilMs: now() + sharingSeconds * 1000, uses: 1 });
      // A lease that was not granted is not shared; the caller gets the error.
      id.catch(() => shared.delete(ttlSeconds));
      return id;
    },
  };
}
