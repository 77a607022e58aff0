// Where clouds serve credentials to their machines.
import { type Address, formatAddress, isLinkLocalUnicast } from './address.ts';

/** AWS and Google over IPv6, Alibaba, and Azure; all others are link-local. */
const others: ReadonlySet<string> = new Set([
  'fd00:ec2::254',
  'fd20:ce::254',
  '100.100.100.200',
  '168.63.129.16',
]);

export function mayBeMetadataService(address: Address): boolean {
  return isLinkLocalUnicast(address) || others.has(formatAddress(address));
}
