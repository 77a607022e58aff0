// IP addresses between text and the bytes of the wire.
import { formatAddress, parseAddress } from '../../ip/address.ts';

export const familyNumber = { IPv4: 2, IPv6: 10 } as const;
export type IPFamily = keyof typeof familyNumber;

export function familyOfNumber(number: number): IPFamily | undefined {
  return number === familyNumber.IPv4 ? 'IPv4' : number === familyNumber.IPv6 ? 'IPv6' : undefined;
}

export function familyOfText(address: string): IPFamily {
  return address.includes(':') ? 'IPv6' : 'IPv4';
}

/** 4 or 16 bytes in network order. Throws RangeError when the text is no address. */
export function addressBytes(text: string): Uint8Array {
  if (!text.includes(':')) return ipv4Bytes(text);
  const address = parseAddress(text);
  if (address === undefined) throw notAnAddress(text);
  const bytes = new Uint8Array(16);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, address.value >> 64n);
  view.setBigUint64(8, address.value & 0xffff_ffff_ffff_ffffn);
  return bytes;
}

const dot = 46;
const zero = 48;

/** By character: a transaction has a hundred thousand of them, and taking texts apart would be most of its time. */
function ipv4Bytes(text: string): Uint8Array {
  const bytes = new Uint8Array(4);
  let part = 0;
  let value = 0;
  let digits = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === dot && digits > 0 && part < 3) {
      bytes[part++] = value;
      value = 0;
      digits = 0;
    } else {
      value = value * 10 + code - zero;
      digits++;
      if (code < zero || code > zero + 9 || value > 255 || digits > 3) throw notAnAddress(text);
    }
  }
  if (part !== 3 || digits === 0) throw notAnAddress(text);
  bytes[3] = value;
  return bytes;
}

function notAnAddress(text: string): RangeError {
  return new RangeError(`Cannot use "${text}" as an IP address`);
}

/** The text of 4 or 16 bytes. */
export function addressText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const value = (view.getBigUint64(0) << 64n) | view.getBigUint64(8);
  return formatAddress({ family: 'IPv6', value });
}

export type Prefix = {
  readonly family: IPFamily;
  readonly bytes: Uint8Array;
  readonly length: number;
};

/** `10.0.0.0/8`, or an address alone, which is the prefix of its full length. */
export function parsePrefix(text: string): Prefix {
  const [address = '', length] = text.split('/');
  const bytes = addressBytes(address);
  const bits = length === undefined ? bytes.length * 8 : Number(length);
  if (!Number.isInteger(bits) || bits < 0 || bits > bytes.length * 8) {
    throw new RangeError(`Cannot use "${text}" as an IP prefix`);
  }
  return { family: familyOfText(address), bytes, length: bits };
}

export function macAddressBytes(text: string): Uint8Array {
  if (!/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i.test(text)) {
    throw new RangeError(`Cannot use "${text}" as a hardware address`);
  }
  return Uint8Array.from(text.split(':'), (part) => Number.parseInt(part, 16));
}

export function macAddressText(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(':');
}
