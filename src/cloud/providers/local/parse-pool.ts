// Pools: ranges of addresses to allocate from. Who gets which, and what happens when none is left, is in desired.ts.
import {
  type Address,
  compareAddresses,
  type Family,
  formatAddress,
  parseAddress,
} from '../../../ip/address.ts';
import { addressCount, type Cidr, parseCidr } from '../../../ip/cidr.ts';

/** Both ends belong to it. */
export type AddressRange = {
  readonly family: Family;
  readonly first: bigint;
  readonly last: bigint;
};

export type Pool = readonly AddressRange[];

export type PoolName = 'external' | 'internal';
export type Pools = Readonly<Record<PoolName, Pool>>;

/** `172.30.200.0/24,10.0.0.5-10.0.0.9,fd30:200::/120`; a text says what is wrong. */
export function parsePool(text: string): Pool | string {
  const ranges: AddressRange[] = [];
  for (const word of text.split(',').map((part) => part.trim())) {
    if (word === '') continue;
    const range = parseRange(word);
    if (typeof range === 'string') return range;
    ranges.push(range);
  }
  return overlapIn(ranges) ?? ranges;
}

/** The first pair of ranges that share an address, in words. */
export function overlapIn(ranges: readonly AddressRange[]): string | undefined {
  const sorted = [...ranges].sort((a, b) => compareAddresses(firstOf(a), firstOf(b)));
  for (const [at, range] of sorted.entries()) {
    const next = sorted[at + 1];
    if (next !== undefined && next.family === range.family && next.first <= range.last)
      return `"${formatRange(range)}" and "${formatRange(next)}" overlap`;
  }
  return undefined;
}

function parseRange(word: string): AddressRange | string {
  const dash = word.indexOf('-');
  if (dash < 0) {
    const cidr = parseCidr(word.includes('/') ? word : `${word}/${word.includes(':') ? 128 : 32}`);
    return cidr === undefined ? wrong(word) : usableOf(cidr);
  }
  const first = parseAddress(word.slice(0, dash).trim());
  const last = parseAddress(word.slice(dash + 1).trim());
  if (first === undefined || last === undefined) return wrong(word);
  if (first.family !== last.family) return `the ends of "${word}" are of different families`;
  if (first.value > last.value) return `the first address of "${word}" comes after the last`;
  return { family: first.family, first: first.value, last: last.value };
}

const wrong = (word: string): string =>
  `"${word}" is neither a CIDR like 172.30.200.0/24 nor a range like 10.0.0.5-10.0.0.9`;

/**
 * A network's own address, and its broadcast address in IPv4, are left out: some programs refuse to talk to them. A range
 * includes them.
 */
function usableOf(cidr: Cidr): AddressRange {
  const { family, base } = cidr;
  const count = addressCount(cidr);
  const last = base + count - 1n;
  if (count <= 2n) return { family, first: base, last };
  return { family, first: base + 1n, last: family === 'IPv4' ? last - 1n : last };
}

export function poolHas(pool: Pool, { family, value }: Address): boolean {
  return pool.some((range) => range.family === family && isWithin(range, value));
}

const isWithin = ({ first, last }: AddressRange, value: bigint): boolean =>
  value >= first && value <= last;

export function poolFamilies(pool: Pool): ReadonlySet<Family> {
  return new Set(pool.map(({ family }) => family));
}

export function poolSize(pool: Pool, family: Family): bigint {
  return pool
    .filter((range) => range.family === family)
    .reduce((sum, { first, last }) => sum + last - first + 1n, 0n);
}

export type FreeSearch = {
  /** The first address of the pool that is not in use. */
  readonly find: (
    name: PoolName,
    family: Family,
    isTaken: (address: string) => boolean,
  ) => string | undefined;
  /** Something that was taken may be free now. */
  readonly startOver: () => void;
};

/** A search starts where the last one ended: otherwise 10,000 Services would need 50 million lookups. */
export function createFreeSearch(pools: Pools): FreeSearch {
  const ends = new Map<string, bigint>();
  return {
    find(name, family, isTaken) {
      const key = `${name} ${family}`;
      let at = ends.get(key) ?? 0n;
      for (; ; at += 1n) {
        const address = nthOf(pools[name], family, at);
        if (address !== undefined && isTaken(address)) continue;
        ends.set(key, at);
        return address;
      }
    },
    startOver: () => ends.clear(),
  };
}

/** The addresses of a family counted through all ranges, in their order. */
function nthOf(pool: Pool, family: Family, n: bigint): string | undefined {
  let left = n;
  for (const { family: of, first, last } of pool) {
    if (of !== family) continue;
    if (left <= last - first) return formatAddress({ family, value: first + left });
    left -= last - first + 1n;
  }
  return undefined;
}

const firstOf = ({ family, first }: AddressRange): Address => ({ family, value: first });

/** As many ranges as a message holds. */
const maxShownRanges = 8;

export function formatPool(pool: Pool): string {
  const shown = pool.slice(0, maxShownRanges).map(formatRange);
  return pool.length > shown.length ? `${shown.join(', ')}, ...` : shown.join(', ') || 'none';
}

function formatRange({ family, first, last }: AddressRange): string {
  return `${formatAddress({ family, value: first })}-${formatAddress({ family, value: last })}`;
}
