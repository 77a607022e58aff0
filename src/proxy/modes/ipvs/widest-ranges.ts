// Ranges for a set that takes no two that overlap, spelled as the kernel gives them back.
import { addressBits, formatAddress, parseAddress } from '../../../ip/address.ts';
import { type Cidr, containsCidr, formatCidr, parseCidr } from '../../../ip/cidr.ts';

/** Addresses and ranges, without those inside of others. */
export function widestRanges(texts: readonly string[]): readonly string[] {
  const ranges = texts.map(rangeOf).filter((range) => range !== undefined);
  const kept: Cidr[] = [];
  for (const range of ranges.toSorted((a, b) => a.prefix - b.prefix)) {
    if (!kept.some((wider) => containsCidr(wider, range))) kept.push(range);
  }
  return kept.map(textOf);
}

function rangeOf(text: string): Cidr | undefined {
  const address = parseAddress(text);
  return parseCidr(address === undefined ? text : `${text}/${addressBits(address.family)}`);
}

function textOf(range: Cidr): string {
  const isOneAddress = range.prefix === addressBits(range.family);
  return isOneAddress
    ? formatAddress({ family: range.family, value: range.base })
    : formatCidr(range);
}
