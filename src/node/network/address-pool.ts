// Allocates addresses to pods: one of each range of the node.
import { type Address, addressBits, formatAddress, parseAddress } from '../../ip/address.ts';
import { addressCount, type Cidr, containsAddress, formatCidr } from '../../ip/cidr.ts';

export type AddressPool = {
  /** Reserves the addresses that a pod had in a previous run, unless another pod has them. */
  readonly reserve: (uid: string, ips: readonly string[]) => void;
  /** One address of each range, in their order; idempotent per pod. Throws RangeExhaustedError. */
  readonly allocate: (uid: string, ranges: readonly Cidr[]) => readonly string[];
  readonly release: (uid: string) => void;
};

/** All addresses of the range are in use. */
export class RangeExhaustedError extends Error {
  override readonly name = 'RangeExhaustedError';

  constructor(range: Cidr) {
    super(`no addresses available in range set: ${formatCidr(range)}`);
  }
}

export function createAddressPool(): AddressPool {
  const byPod = new Map<string, readonly string[]>();
  const used = new Set<string>();
  /** The last allocated address of each range. The next pod gets the one after it, so that released addresses are reused late. */
  const last = new Map<string, bigint>();

  const store = (uid: string, ips: readonly string[]): void => {
    byPod.set(uid, ips);
    for (const ip of ips) used.add(ip);
  };
  const release = (uid: string): void => {
    for (const ip of byPod.get(uid) ?? []) used.delete(ip);
    byPod.delete(uid);
  };
  const next = (range: Cidr): string => {
    const key = formatCidr(range);
    const value = nextFreeAddress(range, last.get(key) ?? highestUsed(range, used), used);
    if (value === undefined) throw new RangeExhaustedError(range);
    last.set(key, value);
    return formatAddress({ family: range.family, value });
  };

  return {
    reserve(uid, ips) {
      if (!byPod.has(uid) && ips.length > 0 && !ips.some((ip) => used.has(ip))) store(uid, ips);
    },
    allocate(uid, ranges) {
      const before = byPod.get(uid);
      if (before !== undefined && isOneOfEach(before, ranges)) return before;
      release(uid);
      const ips = ranges.map(next);
      store(uid, ips);
      return ips;
    },
    release,
  };
}

/** The node's address in the range, which is the gateway of its pods. */
export function gatewayOf({ family, base }: Cidr): string {
  return formatAddress({ family, value: base + gatewayOffset });
}

/** The first address is the network address, the second the gateway. */
const gatewayOffset = 1n;
const firstPodOffset = 2n;

/** The next free address after `after`, wrapping around at the end of the range. */
export function nextFreeAddress(
  range: Cidr,
  after: bigint | undefined,
  used: ReadonlySet<string>,
): bigint | undefined {
  const first = range.base + firstPodOffset;
  const end = lastPodAddress(range);
  const start = after === undefined || after < first || after >= end ? first : after + 1n;
  const isFree = (value: bigint): boolean =>
    !used.has(formatAddress({ family: range.family, value }));
  for (let value = start; value <= end; value += 1n) if (isFree(value)) return value;
  for (let value = first; value < start; value += 1n) if (isFree(value)) return value;
  return undefined;
}

/** The last address of an IPv4 range is its broadcast address; IPv6 has none. */
function lastPodAddress(range: Cidr): bigint {
  const last = range.base + addressCount(range) - 1n;
  return range.family === 'IPv4' ? last - 1n : last;
}

/** After a restart, allocation continues after the highest address in use. */
function highestUsed(range: Cidr, used: ReadonlySet<string>): bigint | undefined {
  let highest: bigint | undefined;
  for (const text of used) {
    const address = parseAddress(text);
    if (address === undefined || !containsAddress(range, address)) continue;
    if (highest === undefined || address.value > highest) highest = address.value;
  }
  return highest;
}

function isOneOfEach(ips: readonly string[], ranges: readonly Cidr[]): boolean {
  return (
    ips.length === ranges.length &&
    ranges.every((range, at) => isPodAddress(range, parseAddress(ips[at] ?? '')))
  );
}

function isPodAddress(range: Cidr, address: Address | undefined): boolean {
  return (
    address !== undefined &&
    containsAddress(range, address) &&
    address.value >= range.base + firstPodOffset &&
    address.value <= lastPodAddress(range)
  );
}

/** `10.244.0.7/32`: a pod has no on-link neighbors, all its traffic goes through the node. */
export function hostCidr(ip: string): string {
  return `${ip}/${addressBits(parseAddress(ip)?.family ?? 'IPv4')}`;
}
