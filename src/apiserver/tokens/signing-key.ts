// The key with which the server signs tokens of service accounts.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { join } from 'node:path';
import { readPrivateFile, writePrivateFile } from '../certificates/private-file.ts';

/** Enough to check a token. */
export type VerificationKey = {
  readonly algorithm: 'ES256' | 'RS256';
  /** Named in the header of tokens and in the published key set. */
  readonly id: string;
  readonly publicKey: KeyObject;
};

export type SigningKey = VerificationKey & { readonly privateKey: KeyObject };

const fileName = 'sa.key';
/** What clients of the key set accept at least. */
const minRsaBits = 2048;

/** The key of the directory; made on the first start, readable by its owner only. */
export async function ensureSigningKey(directory: string): Promise<SigningKey> {
  const path = join(directory, fileName);
  const found = await readPrivateFile(path);
  if (found !== undefined) return parseSigningKey(found, path);
  const pem = String(newKey().export({ type: 'pkcs8', format: 'pem' }));
  await writePrivateFile(path, pem);
  return parseSigningKey(pem, path);
}

/** A key that ends with the process: its tokens do too. */
export function makeSigningKey(): SigningKey {
  return keyOf(newKey(), 'ES256');
}

function newKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
}

export function parseSigningKey(pem: string, path: string): SigningKey {
  const key = readPem(pem, path);
  const algorithm = algorithmOf(key);
  if (algorithm !== undefined) return keyOf(key, algorithm);
  throw new SigningKeyError(
    `Cannot sign tokens with "${path}": it holds another sort of key, a P-256 key or an RSA key of at least ${minRsaBits} bits is needed`,
  );
}

/** Of a public key, or of the public half of a private one: an old signing key checks the tokens it once made. */
export function parseVerificationKey(pem: string, path: string): VerificationKey {
  const publicKey = readPublicPem(pem, path);
  const algorithm = algorithmOf(publicKey);
  if (algorithm !== undefined) return { algorithm, id: idOf(publicKey), publicKey };
  throw new SigningKeyError(
    `Cannot check tokens with "${path}": it holds another sort of key, a P-256 key or an RSA key of at least ${minRsaBits} bits is needed`,
  );
}

function readPublicPem(pem: string, path: string): KeyObject {
  try {
    return createPublicKey(pem);
  } catch (error) {
    throw new SigningKeyError(
      `Cannot read "${path}": a public or private key or a certificate in PEM form is needed`,
      { cause: error },
    );
  }
}

/** A key that was named by a flag cannot be used. */
export class SigningKeyError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SigningKeyError';
  }
}

function readPem(pem: string, path: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    throw new SigningKeyError(
      `Cannot read "${path}": the file is damaged, a private key in PEM form is needed; restore it, or remove it to have a new one made, which ends all tokens of service accounts`,
      { cause: error },
    );
  }
}

function algorithmOf(key: KeyObject): SigningKey['algorithm'] | undefined {
  const { namedCurve, modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'ec') return namedCurve === 'prime256v1' ? 'ES256' : undefined;
  return key.asymmetricKeyType === 'rsa' && modulusLength >= minRsaBits ? 'RS256' : undefined;
}

function keyOf(privateKey: KeyObject, algorithm: SigningKey['algorithm']): SigningKey {
  const publicKey = createPublicKey(privateKey);
  return { algorithm, id: idOf(publicKey), privateKey, publicKey };
}

function idOf(publicKey: KeyObject): string {
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url');
}
