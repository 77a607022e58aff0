// Ranges without those that lie in another one: sets of ranges take no two that overlap.
import { addressBits, formatAddress } from '../../../ip/address.ts';
import { type Cidr, containsCidr, formatCidr, parseCidr } from '../../../ip/cidr.ts';

/** Two CIDRs are apart or one is inside the other, so what is left covers the same addresses. */
export function widestRanges(texts: readonly string[]): readonly string[] {
  const ranges = texts.map(parseCidr).filter((cidr) => cidr !== undefined);
  const byWidth = [...ranges].sort((a, b) => a.prefix - b.prefix);
  const kept: Cidr[] = [];
  for (const range of byWidth) {
    if (!kept.some((wider) => containsCidr(wider, range))) kept.push(range);
  }
  return kept.map(rangeText).sort();
}

/** As the kernel's sets give it back: a range of one address is that address. */
function rangeText(range: Cidr): string {
  const address = { family: range.family, value: range.base };
  return range.prefix === addressBits(range.family) ? formatAddress(address) : formatCidr(range);
}
