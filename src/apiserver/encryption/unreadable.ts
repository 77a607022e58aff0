// The error for a stored value that cannot be decrypted: its key is missing, or it was changed.

/** The message is the reason in upstream's words; it never holds a part of the value. */
export class Unreadable extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'Unreadable';
  }
}

/** What every encrypted value begins with, whatever the provider. */
const encryptedMark = Buffer.from('k8s:enc:');

export function isEncrypted(value: Uint8Array): boolean {
  return startsWith(value, encryptedMark);
}

export function startsWith(value: Uint8Array, prefix: Uint8Array): boolean {
  for (let at = 0; at < prefix.length; at += 1) if (value[at] !== prefix[at]) return false;
  return true;
}

/** Where no provider is configured for a resource. */
export const identityReason = 'identity transformer tried to read encrypted data';
