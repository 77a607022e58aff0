// What the netfilter families of netlink have in common: `struct nfgenmsg` after the header, and types in two halves.
import type { AttributeWriter } from './attributes.ts';

export const netfilterSubsystem = { conntrack: 1, nftables: 10 } as const;
export const netfilterHeaderBytes = 4;

export function netfilterType(subsystem: keyof typeof netfilterSubsystem, message: number): number {
  return (netfilterSubsystem[subsystem] << 8) | message;
}

export function writeNetfilterHeader(writer: AttributeWriter, family: number, resource = 0): void {
  writer.u8(family);
  writer.u8(0);
  writer.be16(resource);
}
