// The ciphers of stored values, byte for byte as kube-apiserver writes them. Upstream: storage/value/encrypt/{aes,secretbox}.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { xsalsa20poly1305 } from '@noble/ciphers/salsa';
import { Unreadable } from './unreadable.ts';

export type Cipher = {
  /** `path` is the key under which the value is stored: where the cipher authenticates it, a value copied to another key is refused. */
  readonly seal: (plain: Uint8Array, path: string) => Uint8Array;
  /** Throws Unreadable. */
  readonly open: (sealed: Uint8Array, path: string) => Uint8Array;
  /** Whether a changed ciphertext is always detected (authenticated encryption). */
  readonly isAuthenticated: boolean;
  /** Whether a value that was copied to another key is always detected. */
  readonly isBoundToPath: boolean;
};

const blockBytes = 16;
const gcmNonceBytes = 12;
const gcmTagBytes = 16;
const secretboxNonceBytes = 24;
const secretboxTagBytes = 16;

const tooShort = 'the stored data was shorter than the required size';

/** IV, then the blocks with PKCS #7 padding. */
export function aescbc(key: Uint8Array): Cipher {
  const name = `aes-${key.length * 8}-cbc`;
  return {
    isAuthenticated: false,
    isBoundToPath: false,
    seal(plain) {
      const iv = randomBytes(blockBytes);
      const cipher = createCipheriv(name, key, iv);
      return Buffer.concat([iv, cipher.update(plain), cipher.final()]);
    },
    open(sealed) {
      if (sealed.length < blockBytes) throw new Unreadable(tooShort);
      if (sealed.length % blockBytes !== 0)
        throw new Unreadable('the stored data is not a multiple of the block size');
      const decipher = createDecipheriv(name, key, sealed.subarray(0, blockBytes));
      try {
        return Buffer.concat([decipher.update(sealed.subarray(blockBytes)), decipher.final()]);
      } catch (error) {
        throw new Unreadable('invalid padding on input', { cause: error });
      }
    },
  };
}

/** Nonce, ciphertext, tag; the path is authenticated with them. */
export function aesgcm(key: Uint8Array): Cipher {
  const name = `aes-${key.length * 8}-gcm` as 'aes-256-gcm';
  const options = { authTagLength: gcmTagBytes };
  return {
    isAuthenticated: true,
    isBoundToPath: true,
    seal(plain, path) {
      const nonce = randomBytes(gcmNonceBytes);
      const cipher = createCipheriv(name, key, nonce, options).setAAD(Buffer.from(path));
      return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    },
    open(sealed, path) {
      if (sealed.length < gcmNonceBytes + gcmTagBytes) throw new Unreadable(tooShort);
      const end = sealed.length - gcmTagBytes;
      const decipher = createDecipheriv(name, key, sealed.subarray(0, gcmNonceBytes), options)
        .setAAD(Buffer.from(path))
        .setAuthTag(sealed.subarray(end));
      const plain = decipher.update(sealed.subarray(gcmNonceBytes, end));
      try {
        decipher.final();
        return plain;
      } catch (error) {
        throw new Unreadable('cipher: message authentication failed', { cause: error });
      }
    },
  };
}

/** Nonce, tag, ciphertext: XSalsa20 and Poly1305, which Node.js does not have. The path is not authenticated, as upstream. */
export function secretbox(key: Uint8Array): Cipher {
  return {
    isAuthenticated: true,
    isBoundToPath: false,
    seal(plain) {
      const nonce = randomBytes(secretboxNonceBytes);
      return Buffer.concat([nonce, xsalsa20poly1305(key, nonce).encrypt(plain)]);
    },
    open(sealed) {
      if (sealed.length < secretboxNonceBytes + secretboxTagBytes) throw new Unreadable(tooShort);
      const nonce = sealed.subarray(0, secretboxNonceBytes);
      try {
        return xsalsa20poly1305(key, nonce).decrypt(sealed.subarray(secretboxNonceBytes));
      } catch (error) {
        throw new Unreadable('output array was not large enough for encryption', { cause: error });
      }
    },
  };
}
