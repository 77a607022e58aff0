// The label pod-template-hash, equal to upstream's for the same template. Upstream: ComputeHash() in
// pkg/controller/controller_utils.go.

import { dumpGo } from './go-dump.ts';
import { type PodTemplateSpec, podTemplateSpec } from './types.ts';

/** Without vowels and look-alikes, so that no words appear. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** The collision count changes the hash when another template has the same one. */
export function templateHash(template: PodTemplateSpec, collisionCount?: number): string {
  const text = Buffer.from(dumpGo(podTemplateSpec, template));
  const bytes =
    collisionCount === undefined ? text : Buffer.concat([text, counted(collisionCount)]);
  return encodeSafely(String(fnv32a(bytes)));
}

/** Eight bytes, of which upstream fills four. */
function counted(collisionCount: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(collisionCount);
  return bytes;
}

function fnv32a(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

export function encodeSafely(text: string): string {
  return [...text].map((char) => alphabet[char.charCodeAt(0) % alphabet.length]).join('');
}
