// Names of chains that belong to one service port, after upstream's pattern: a hash for uniqueness, then what a person looks for
// (pkg/proxy/nftables/proxier.go).
import { createHash } from 'node:crypto';
import type { Endpoint, ServicePort } from '../../model/state.ts';

/** The kernel takes names of up to 255 bytes. */
const maxNameLength = 255;

/** `service-HASH-namespace/name/protocol/port` and so on. */
export function portChainName(
  kind: 'service' | 'internal' | 'external',
  { namespace, name, protocol, portName }: ServicePort,
): string {
  const words = `${namespace}/${name}/${protocol.toLowerCase()}/${portName}`;
  return `${kind}-${hash8(words)}-${words}`.slice(0, maxNameLength);
}

/**
 * The number by which records of affinity name an endpoint of a service port. Two that share one, which is rare among millions, share
 * records: a client of the one would go to the other as if it had been there before.
 */
export function affinityNumber({ key }: ServicePort, { ip, port }: Endpoint): number {
  return digestOf(`${key} ${ip} ${port}`).readUInt32BE(0);
}

/** NFT-04: the first 8 characters of the base32 of a SHA-256. */
function hash8(text: string): string {
  let bits = digestOf(text).readUIntBE(0, 5);
  let hash = '';
  for (let character = 0; character < 8; character += 1) {
    hash = (base32[bits % 32] ?? '') + hash;
    bits = Math.floor(bits / 32);
  }
  return hash;
}

const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
