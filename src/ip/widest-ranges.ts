// Ranges without those that lie in another one: the kernel's sets of ranges take no two that overlap.
import { addressBits, formatAddress } from './address.ts';
import { type Cidr, containsCidr, formatCidr, parseRange } from './cidr.ts';

/**
 * Of addresses and ranges. Two CIDRs are apart or one is inside the other, so what is left covers the same addresses. The widest come first,
 * in the same order whatever the order they were given in.
 */
export function widestRanges(texts: readonly string[]): readonly string[] {
  const ranges = texts.map(parseRange).filter((range) => range !== undefined);
  const kept: Cidr[] = [];
  for (const range of ranges.sort((a, b) => a.prefix - b.prefix || compareBases(a, b))) {
    if (!kept.some((wider) => containsCidr(wider, range))) kept.push(range);
  }
  return kept.map(rangeText);
}

function compareBases(a: Cidr, b: Cidr): number {
  return a.base < b.base ? -1 : Number(a.base > b.base);
}

/** As the kernel's sets give it back: a range of one address is that address. */
function rangeText(range: Cidr): string {
  const address = { family: range.family, value: range.base };
  return range.prefix === addressBits(range.family) ? formatAddress(address) : formatCidr(range);
}
