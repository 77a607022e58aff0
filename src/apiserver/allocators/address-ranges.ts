// The ranges of service addresses: the ServiceCIDR objects that are ready.
import { type Address, addressBits, type Family } from '../../ip/address.ts';
import { addressCount, type Cidr, containsAddress, formatCidr, parseCidr } from '../../ip/cidr.ts';
import { isReady } from '../../kinds/service-cidr/readiness.ts';
import type { ServiceCIDR } from '../../kinds/service-cidr/types.ts';
import type { ObjectReader } from '../cache/object-reader.ts';
import { type Bands, lowerBandSize } from './pick-free.ts';

export type AddressRange = { readonly cidr: Cidr; readonly text: string; readonly bands: Bands };

const resource = 'servicecidrs.networking.k8s.io';
/** Larger ranges are not used, as upstream. */
const maxHostBits = 64;
const lowerBand = { share: 16n, min: 16n, max: 256n };

/** Reads the ranges again only after a ServiceCIDR has changed. */
export function createRangeIndex(
  reader: ObjectReader,
): (family: Family) => readonly AddressRange[] {
  let revision: number | undefined;
  let ranges: Readonly<Record<Family, readonly AddressRange[]>> = { IPv4: [], IPv6: [] };
  return (family) => {
    if (revision !== reader.revision(resource)) {
      const all = addressRanges(reader.list(resource) as readonly ServiceCIDR[]);
      const of = (one: Family) => all.filter((range) => range.cidr.family === one);
      ranges = { IPv4: of('IPv4'), IPv6: of('IPv6') };
      revision = reader.revision(resource);
    }
    return ranges[family];
  };
}

/** Oldest first: a newer range is used when the older ones are full. */
export function addressRanges(objects: readonly ServiceCIDR[]): readonly AddressRange[] {
  return [...objects]
    .filter(isReady)
    .sort(byAge)
    .flatMap(({ spec }) => spec.cidrs ?? [])
    .flatMap((text) => {
      const cidr = parseCidr(text);
      return (cidr && addressRange(cidr)) ?? [];
    });
}

/** Undefined when the range has no usable address. */
export function addressRange(cidr: Cidr): AddressRange | undefined {
  const bands = addressBands(cidr);
  return bands === undefined ? undefined : { cidr, text: formatCidr(cidr), bands };
}

function byAge(a: ServiceCIDR, b: ServiceCIDR): number {
  const age = ({ metadata }: ServiceCIDR): string =>
    `${metadata.creationTimestamp ?? ''} ${metadata.name ?? ''}`;
  return age(a) < age(b) ? -1 : 1;
}

/** Without the network address and the IPv4 broadcast address. */
export function addressBands(cidr: Cidr): Bands | undefined {
  if (addressBits(cidr.family) - cidr.prefix > maxHostBits) return undefined;
  const count = addressCount(cidr);
  const first = cidr.base + 1n;
  const last = cidr.base + count - (cidr.family === 'IPv4' ? 2n : 1n);
  if (first > last) return undefined;
  return { first, upper: first + lowerBandSize(count, lowerBand), last };
}

export function offersAddress({ cidr, bands }: AddressRange, address: Address): boolean {
  const { value } = address;
  return containsAddress(cidr, address) && value >= bands.first && value <= bands.last;
}
