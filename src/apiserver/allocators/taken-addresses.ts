// Which addresses have an IPAddress, as numbers: finding a free one asks for the next gap instead of for one name after another.
import { type Family, parseAddress } from '../../ip/address.ts';
import type { Cached, ResourceCache } from '../cache/resource-cache.ts';
import { createNumberSet, type NumberSet } from './number-set.ts';

export type TakenAddresses = {
  /** The lowest free address of a family from one to another, both included. */
  readonly firstFree: (family: Family, from: bigint, to: bigint) => bigint | undefined;
  /** Picked since the last change, for writes under way. */
  readonly handedOut: Readonly<Record<Family, Set<bigint>>>;
};

/** Follows the cache of IPAddresses for as long as that lives. */
export function followTakenAddresses(
  cache: Pick<ResourceCache, 'listReadable' | 'unreadable' | 'listen'>,
): TakenAddresses {
  const taken: Readonly<Record<Family, NumberSet>> = {
    IPv4: createNumberSet(),
    IPv6: createNumberSet(),
  };
  const handedOut = { IPv4: new Set<bigint>(), IPv6: new Set<bigint>() };
  // By its name, which ends the key: the object itself need not be looked at.
  const put = ({ key }: Pick<Cached, 'key'>, isTaken: boolean): void => {
    const address = parseAddress(key.slice(key.lastIndexOf('/') + 1));
    if (address === undefined) return;
    const { family, value } = address;
    if (isTaken) taken[family].add(value);
    else taken[family].remove(value);
    if (handedOut[family].size > 0) handedOut[family].clear();
  };
  const load = (): void => {
    taken.IPv4.clear();
    taken.IPv6.clear();
    for (const cached of cache.listReadable('')) put(cached, true);
    for (const lost of cache.unreadable()) put(lost, true);
  };
  load();
  cache.listen(({ type, current }) => {
    if (type !== 'MODIFIED') put(current, type === 'ADDED');
  }, load);
  return { firstFree: (family, from, to) => taken[family].firstGap(from, to), handedOut };
}
