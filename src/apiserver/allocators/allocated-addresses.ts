// The addresses that have an IPAddress, as a set of numbers: a free one is the next gap, instead of trying name after name.
import { type Family, parseAddress } from '../../ip/address.ts';
import type { Cached, ResourceCache } from '../cache/resource-cache.ts';
import { createNumberSet, type NumberSet } from './number-set.ts';

export type AllocatedAddresses = {
  /** The lowest free address of a family from one to another, both included. */
  readonly firstFree: (family: Family, from: bigint, to: bigint) => bigint | undefined;
  /** Picked since the last change, by writes in flight. */
  readonly pending: Readonly<Record<Family, Set<bigint>>>;
};

/** Follows the cache of IPAddresses. */
export function followAllocatedAddresses(
  cache: Pick<ResourceCache, 'listReadable' | 'unreadable' | 'subscribe'>,
): AllocatedAddresses {
  const taken: Readonly<Record<Family, NumberSet>> = {
    IPv4: createNumberSet(),
    IPv6: createNumberSet(),
  };
  const pending = { IPv4: new Set<bigint>(), IPv6: new Set<bigint>() };
  // The name at the end of the key is the address: the object need not be decoded.
  const put = ({ key }: Pick<Cached, 'key'>, isTaken: boolean): void => {
    const address = parseAddress(key.slice(key.lastIndexOf('/') + 1));
    if (address === undefined) return;
    const { family, value } = address;
    if (isTaken) taken[family].add(value);
    else taken[family].remove(value);
    if (pending[family].size > 0) pending[family].clear();
  };
  const load = (): void => {
    taken.IPv4.clear();
    taken.IPv6.clear();
    for (const cached of cache.listReadable('')) put(cached, true);
    for (const lost of cache.unreadable()) put(lost, true);
  };
  load();
  cache.subscribe(({ type, current }) => {
    if (type !== 'MODIFIED') put(current, type === 'ADDED');
  }, load);
  return { firstFree: (family, from, to) => taken[family].firstGap(from, to), pending };
}
