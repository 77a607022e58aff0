// Addresses as the kernel and the wire have them: four or sixteen bytes, the highest first.
import { type Address, addressBits } from './address.ts';

export function addressBytes({ family, value }: Address): Uint8Array {
  const bytes = new Uint8Array(addressBits(family) / 8);
  let rest = value;
  for (let at = bytes.length - 1; at >= 0; at -= 1) {
    bytes[at] = Number(rest & 0xffn);
    rest >>= 8n;
  }
  return bytes;
}

/** Undefined where there are neither four nor sixteen bytes. */
export function addressFromBytes(bytes: Uint8Array): Address | undefined {
  if (bytes.length !== 4 && bytes.length !== 16) return undefined;
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return { family: bytes.length === 4 ? 'IPv4' : 'IPv6', value };
}
