// Which keys expire, and when: those with a lease, whose remaining time etcd reports.
import type { Expiring } from '../../expiry.ts';
import type { EtcdClient } from './client.ts';
import { endOfPrefix, keyAfter, progressKey, rangeStart } from './key-range.ts';
import type { KeyValue } from './messages.ts';

/** Of one response. */
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
  const start = rangeStart(prefix, '');
  const rangeEnd = endOfPrefix(start);
  const found: (KeyValue & { readonly lease: number })[] = [];
  for (let from = start === '' ? '\0' : start; ; ) {
    const page = await client.range({ key: from, rangeEnd, limit: pageEntries });
    for (const entry of page.entries) {
      const { lease } = entry;
      if (lease !== undefined && entry.key !== progressKey(prefix)) found.push({ ...entry, lease });
    }
    const last = page.entries.at(-1);
    if (!page.more || last === undefined) return found;
    from = keyAfter(last.key);
  }
}
