// Which address of this machine's loopback stands for which address inside.
import { parseAddress } from '../ip/address.ts';

/** Second octet of an address inside → second octet on the loopback; itself where it is not named. */
export type LoopbackOctets = ReadonlyMap<number, number>;

/** The same last three numbers behind 127: people find it without a list. Stays clear of 127.0, where this machine's own things are. */
export function loopbackFor(ip: string, octets: LoopbackOctets): string | undefined {
  const address = parseAddress(ip);
  if (address === undefined) return undefined;
  const part = (shift: bigint): number => Number((address.value >> shift) & 0xffn);
  const second = part(16n) === 0 ? insteadOfZero : part(16n);
  return `127.${octets.get(second) ?? second}.${part(8n)}.${part(0n)}`;
}

const insteadOfZero = 100;

/** Of an address on the loopback. */
export const secondOctet = (ip: string): number => Number(ip.split('.')[1]);
