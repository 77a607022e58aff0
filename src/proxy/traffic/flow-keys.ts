// Addresses as keys of maps: numbers for IPv4 and hexadecimal text for IPv6, because a key is made for every connection.
import { formatAddress, parseAddress } from '../../ip/address.ts';
import type { Family, Protocol } from '../model/state.ts';

export type AddressKey = number | string;

export const protocolNumbers: Readonly<Record<Protocol, number>> = { TCP: 6, UDP: 17, SCTP: 132 };
const nodePortKeys: Readonly<Record<Family, number>> = { IPv4: 0, IPv6: 2 ** 24 };
const ipv4Bytes = 4;

/** Undefined: the text is no address. */
export function addressKey(text: string): AddressKey | undefined {
  const address = parseAddress(text);
  if (address === undefined) return undefined;
  if (address.family === 'IPv4') return Number(address.value);
  return address.value.toString(16).padStart(32, '0');
}

export function readAddressKey(bytes: Buffer, at: number, length: number): AddressKey {
  return length === ipv4Bytes ? bytes.readUInt32BE(at) : bytes.toString('hex', at, at + length);
}

export function addressOfKey(key: AddressKey): string {
  if (typeof key === 'string') return formatAddress({ family: 'IPv6', value: BigInt(`0x${key}`) });
  return formatAddress({ family: 'IPv4', value: BigInt(key) });
}

/** An address with a port and the number of a protocol: 50 bits for IPv4, which a number holds exactly. */
export function socketKey(address: AddressKey, port: number, protocol: number): number | string {
  if (typeof address === 'string') return `${address} ${port} ${protocol}`;
  return (address * 65_536 + port) * 4 + protocolIndex(protocol);
}

/** No IPv4 address that connections go to is as small: 0.0.0.0/8 has no hosts. */
export function nodePortKey(family: Family, port: number, protocol: number): number {
  return nodePortKeys[family] + port * 4 + protocolIndex(protocol);
}

/** Two bits; 0 for protocols that Services do not have. */
function protocolIndex(protocol: number): number {
  return protocol === protocolNumbers.TCP
    ? 1
    : protocol === protocolNumbers.UDP
      ? 2
      : protocol === protocolNumbers.SCTP
        ? 3
        : 0;
}
