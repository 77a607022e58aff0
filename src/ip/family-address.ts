// Addresses and ranges in one spelling: what the API keeps as written must be the same key in the kernel.
import { type Family, formatAddress, parseAddress, parseAddressSloppy } from './address.ts';
import { formatCidr, parseCidrSloppy } from './cidr.ts';

/** The address as programs write it; absent when it is none, or of the other family. */
export function addressOfFamily(text: string, family: Family): string | undefined {
  const isIPv6 = text.includes(':');
  // A dotted address without leading zeros is spelled in the one way there is: no second copy of 100,000 of them.
  if (!isIPv6 && family === 'IPv4' && parseAddress(text) !== undefined) return text;
  if (isIPv6 !== (family === 'IPv6')) return undefined;
  const address = parseAddressSloppy(text);
  return address?.family === family ? formatAddress(address) : undefined;
}

/** Those of the family, each once, in their order. */
export function addressesOfFamily(texts: readonly string[], family: Family): readonly string[] {
  const found = texts.map((text) => addressOfFamily(text, family));
  return [...new Set(found.filter((address) => address !== undefined))];
}

/** Ranges of the family, without bits beyond their prefix, each once. */
export function rangesOfFamily(texts: readonly string[], family: Family): readonly string[] {
  const found = texts
    .map((text) => parseCidrSloppy(text.trim()))
    .filter((cidr) => cidr !== undefined)
    .filter((cidr) => cidr.family === family)
    .map(formatCidr);
  return [...new Set(found)];
}
