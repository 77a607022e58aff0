// CIDRs: an address and a prefix length.
import {
  type Address,
  addressBits,
  type Family,
  formatAddress,
  parseAddress,
  parseAddressSloppy,
  unmapped,
} from './address.ts';

export type Cidr = {
  readonly family: Family;
  /** The first address: host bits are zero. */
  readonly base: bigint;
  readonly prefix: number;
};

/** A parsed CIDR before host bits are cleared. */
export type CidrText = { readonly address: Address; readonly prefix: number };

/** Strict; host bits may be set. */
export function readCidr(text: string): CidrText | undefined {
  const { before, after } = splitAtSlash(text);
  if (!/^(?:0|[1-9][0-9]{0,2})$/.test(after)) return undefined;
  const address = parseAddress(before);
  const prefix = Number(after);
  if (address === undefined || prefix > addressBits(address.family)) return undefined;
  return { address, prefix };
}

/** Ignores leading zeros; a mapped range becomes IPv4. */
export function readCidrSloppy(text: string): CidrText | undefined {
  const { before, after } = splitAtSlash(text);
  if (!/^0*[0-9]{1,3}$/.test(after)) return undefined;
  const address = parseAddressSloppy(before);
  if (address === undefined) return undefined;
  const isMapped = address.family === 'IPv4' && before.includes(':');
  const prefix = Number(after);
  if (prefix > (isMapped ? 128 : addressBits(address.family))) return undefined;
  if (!isMapped) return { address, prefix };
  if (prefix >= 96) return { address, prefix: prefix - 96 };
  return { address: { family: 'IPv6', value: (0xffffn << 32n) | address.value }, prefix };
}

export function parseCidr(text: string): Cidr | undefined {
  const read = readCidr(text);
  return read === undefined ? undefined : masked(read);
}

export function parseCidrSloppy(text: string): Cidr | undefined {
  const read = readCidrSloppy(text);
  return read === undefined ? undefined : masked(read);
}

export function masked({ address, prefix }: CidrText): Cidr {
  const shift = BigInt(addressBits(address.family) - prefix);
  return { family: address.family, base: (address.value >> shift) << shift, prefix };
}

export function formatCidr(cidr: Cidr): string {
  return `${formatAddress({ family: cidr.family, value: cidr.base })}/${cidr.prefix}`;
}

export function containsAddress(cidr: Cidr, address: Address): boolean {
  const { family, value } = cidr.family === 'IPv4' ? unmapped(address) : address;
  if (family !== cidr.family) return false;
  const shift = BigInt(addressBits(family) - cidr.prefix);
  return value >> shift === cidr.base >> shift;
}

/** Whether the outer range contains every address of the inner one. */
export function containsCidr(outer: Cidr, inner: Cidr): boolean {
  return (
    outer.prefix <= inner.prefix &&
    containsAddress(outer, { family: inner.family, value: inner.base })
  );
}

export function overlaps(a: Cidr, b: Cidr): boolean {
  return containsCidr(a, b) || containsCidr(b, a);
}

export function addressCount(cidr: Cidr): bigint {
  return 1n << BigInt(addressBits(cidr.family) - cidr.prefix);
}

/** The address at an offset; the caller checks addressCount. */
export function nthAddress(cidr: Cidr, n: bigint): Address {
  return { family: cidr.family, value: cidr.base + n };
}

/** A CIDR, or an address as the range that contains it alone. */
export function parseRange(text: string): Cidr | undefined {
  const address = parseAddress(text);
  return address === undefined
    ? parseCidr(text)
    : masked({ address, prefix: addressBits(address.family) });
}

/** Whether the range, a CIDR or an address, contains the address; false when one of the two is invalid. */
export function isInRange(text: string, range: string): boolean {
  const address = parseAddress(text);
  const cidr = parseRange(range);
  return address !== undefined && cidr !== undefined && containsAddress(cidr, address);
}

function splitAtSlash(text: string): { before: string; after: string } {
  const slash = text.indexOf('/');
  return slash < 0
    ? { before: text, after: '' }
    : { before: text.slice(0, slash), after: text.slice(slash + 1) };
}
