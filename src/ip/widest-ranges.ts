// Removes ranges that are contained in others: interval sets of nftables must not overlap.
import { addressBits, formatAddress } from './address.ts';
import { type Cidr, containsCidr, formatCidr, parseRange } from './cidr.ts';

/**
 * For addresses and CIDRs, which are disjoint or nested, so that the result covers the same addresses. The widest come
 * first, in an order that does not depend on that of the input.
 */
export function widestRanges(texts: readonly string[]): readonly string[] {
  const ranges = texts.map(parseRange).filter((range) => range !== undefined);
  const widest: Cidr[] = [];
  for (const range of ranges.sort((a, b) => a.prefix - b.prefix || compareBases(a, b))) {
    if (!widest.some((wider) => containsCidr(wider, range))) widest.push(range);
  }
  return widest.map(rangeText);
}

function compareBases(a: Cidr, b: Cidr): number {
  return a.base < b.base ? -1 : Number(a.base > b.base);
}

/** As the kernel returns it: a range of one address is the address. */
function rangeText(range: Cidr): string {
  const address = { family: range.family, value: range.base };
  return range.prefix === addressBits(range.family) ? formatAddress(address) : formatCidr(range);
}
