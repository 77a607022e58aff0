// Canonical addresses and ranges of one family: kernel tables need one spelling for what the API keeps as written.
import { type Family, formatAddress, parseAddress, parseAddressSloppy } from './address.ts';
import { formatCidr, parseCidrSloppy } from './cidr.ts';

/** The canonical address; undefined when it is invalid or of the other family. */
export function addressOfFamily(text: string, family: Family): string | undefined {
  const isIPv6 = text.includes(':');
  // Canonical IPv4 needs no new string, which saves memory for 100,000 of them.
  if (!isIPv6 && family === 'IPv4' && parseAddress(text) !== undefined) return text;
  if (isIPv6 !== (family === 'IPv6')) return undefined;
  const address = parseAddressSloppy(text);
  return address?.family === family ? formatAddress(address) : undefined;
}

/** The addresses of the family without duplicates, in order. */
export function addressesOfFamily(texts: readonly string[], family: Family): readonly string[] {
  const found = texts.map((text) => addressOfFamily(text, family));
  return [...new Set(found.filter((address) => address !== undefined))];
}

/** The ranges of the family without host bits and duplicates. */
export function rangesOfFamily(texts: readonly string[], family: Family): readonly string[] {
  const found = texts
    .map((text) => parseCidrSloppy(text.trim()))
    .filter((cidr) => cidr !== undefined)
    .filter((cidr) => cidr.family === family)
    .map(formatCidr);
  return [...new Set(found)];
}
