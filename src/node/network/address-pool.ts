// Which pod has which addresses. A pod gets one of each range of its node, and no address is given to two.
import { type Address, addressBits, formatAddress, parseAddress } from '../../ip/address.ts';
import { addressCount, type Cidr, containsAddress, formatCidr } from '../../ip/cidr.ts';

export type AddressPool = {
  /** What a pod had before this run; kept for it until it is released. Addresses of others are not taken away. */
  readonly reserve: (uid: string, ips: readonly string[]) => void;
  /** One address of each range, in their order; the same again for a pod that has them. Throws when a range is used up. */
  readonly take: (uid: string, ranges: readonly Cidr[]) => readonly string[];
  readonly release: (uid: string) => void;
};

/** The range has no address left. */
export class RangeUsedUpError extends Error {
  override readonly name = 'RangeUsedUpError';

  constructor(range: Cidr) {
    super(`no addresses available in range set: ${formatCidr(range)}`);
  }
}

export function createAddressPool(): AddressPool {
  const byPod = new Map<string, readonly string[]>();
  const used = new Set<string>();
  /** The last address given of each range: the next pod gets the one after, so that an address rests when its pod has gone. */
  const last = new Map<string, bigint>();

  const keep = (uid: string, ips: readonly string[]): void => {
    byPod.set(uid, ips);
    for (const ip of ips) used.add(ip);
  };
  const release = (uid: string): void => {
    for (const ip of byPod.get(uid) ?? []) used.delete(ip);
    byPod.delete(uid);
  };
  const next = (range: Cidr): string => {
    const key = formatCidr(range);
    const value = nextFree(range, last.get(key) ?? lastUsed(range, used), used);
    if (value === undefined) throw new RangeUsedUpError(range);
    last.set(key, value);
    return formatAddress({ family: range.family, value });
  };

  return {
    reserve(uid, ips) {
      if (!byPod.has(uid) && ips.length > 0 && !ips.some((ip) => used.has(ip))) keep(uid, ips);
    },
    take(uid, ranges) {
      const before = byPod.get(uid);
      if (before !== undefined && isOneOfEach(before, ranges)) return before;
      release(uid);
      const ips = ranges.map(next);
      keep(uid, ips);
      return ips;
    },
    release,
  };
}

/** The node's own address in the range: where pods send what leaves it. */
export function gatewayOf({ family, base }: Cidr): string {
  return formatAddress({ family, value: base + gatewayOffset });
}

/** The first address names the network, the second is the gateway. */
const gatewayOffset = 1n;
const firstPodOffset = 2n;

/** The address after `after` that nobody has, starting over at the end of the range. */
export function nextFree(
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

/** After a restart it goes on behind the highest that is in use. */
function lastUsed(range: Cidr, used: ReadonlySet<string>): bigint | undefined {
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

/** `10.244.0.7/32`: a pod is alone on its link, and everything it sends goes by way of its node. */
export function asHost(ip: string): string {
  return `${ip}/${addressBits(parseAddress(ip)?.family ?? 'IPv4')}`;
}
