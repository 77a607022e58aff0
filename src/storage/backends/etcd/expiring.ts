// Which keys go by themselves, and when: those with a lease, whose time etcd is asked for.
import type { Expiring } from '../../expiry.ts';
import type { EtcdClient } from './client.ts';
import { endOfPrefix, keyAfter, placeOf, tickKey } from './key-range.ts';
import type { KeyValue } from './messages.ts';

/** As many as one answer easily holds. */
const pageEntries = 500;

export async function readExpiring(
  client: Pick<EtcdClient, 'range' | 'leaseSeconds'>,
  prefix: string,
  now: () => number,
): Promise<readonly Expiring[]> {
  const leased = await readLeased(client, prefix);
  const ends = new Map<number, number>();
  for (const id of new Set(leased.map(({ lease }) => lease))) {
    ends.set(id, now() + (await client.leaseSeconds(id)) * 1000);
  }
  return leased.map(({ key, modRevision: revision, lease }) => ({
    key: key.slice(prefix.length),
    revision,
    expiresAt: ends.get(lease) ?? 0,
  }));
}

async function readLeased(
  client: Pick<EtcdClient, 'range'>,
  prefix: string,
): Promise<readonly (KeyValue & { readonly lease: number })[]> {
  const place = placeOf(prefix, '');
  const rangeEnd = endOfPrefix(place);
  const found: (KeyValue & { readonly lease: number })[] = [];
  for (let from = place === '' ? '\0' : place; ; ) {
    const page = await client.range({ key: from, rangeEnd, limit: pageEntries });
    for (const entry of page.entries) {
      const { lease } = entry;
      if (lease !== undefined && entry.key !== tickKey(prefix)) found.push({ ...entry, lease });
    }
    const last = page.entries.at(-1);
    if (!page.more || last === undefined) return found;
    from = keyAfter(last.key);
  }
}
