// Socket addresses in the kernel's form: struct sockaddr_in and sockaddr_in6.
import { formatAddress } from '../ip/address.ts';

export type SocketAddress = {
  /** Four bytes or sixteen. */
  readonly address: Uint8Array;
  readonly port: number;
};

export const inet = 2;
export const inet6 = 10;
/** The longer of the two. */
export const socketAddressBytes = 28;

export function encodeSocketAddress({ address, port }: SocketAddress): Buffer {
  const isIPv6 = address.length === 16;
  const bytes = Buffer.alloc(isIPv6 ? 28 : 16);
  bytes.writeUInt16LE(isIPv6 ? inet6 : inet, 0);
  bytes.writeUInt16BE(port, 2);
  bytes.set(address, isIPv6 ? 8 : 4);
  return bytes;
}

/** The address without its port as a key for maps, cheaper than its text. */
export function addressKey(bytes: Buffer): string {
  return bytes.readUInt16LE(0) === inet6
    ? bytes.toString('latin1', 8, 24)
    : bytes.toString('latin1', 4, 8);
}

/** The text of the address that a key stands for. */
export function textOf(key: string): string {
  const bytes = Buffer.from(key, 'latin1');
  const family = bytes.length === 16 ? 'IPv6' : 'IPv4';
  return formatAddress({ family, value: BigInt(`0x${bytes.toString('hex')}`) });
}

export const portOf = (bytes: Buffer): number => bytes.readUInt16BE(2);
