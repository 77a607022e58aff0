// Maps addresses of the isolated network to addresses of this machine's loopback.
import { parseAddress } from '../ip/address.ts';

/** Second octet of an address inside → second octet on the loopback; the same if not listed. */
export type LoopbackOctets = ReadonlyMap<number, number>;

/** 127 and the last three octets, so that people find it without a list. Never in 127.0, which this machine itself uses. */
export function loopbackFor(ip: string, octets: LoopbackOctets): string | undefined {
  const address = parseAddress(ip);
  if (address === undefined) return undefined;
  const part = (shift: bigint): number => Number((address.value >> shift) & 0xffn);
  const second = part(16n) === 0 ? replacementOfZero : part(16n);
  return `127.${octets.get(second) ?? second}.${part(8n)}.${part(0n)}`;
}

const replacementOfZero = 100;

/** Of an address on the loopback. */
export const secondOctet = (ip: string): number => Number(ip.split('.')[1]);
