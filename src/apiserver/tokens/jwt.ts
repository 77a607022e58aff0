// JSON web tokens (RFC 7519) in the compact form: signing, taking apart, and checking a signature.
import { type KeyObject, sign, verify } from 'node:crypto';
import { isJsonObject } from '../../schema/json-object.ts';
import type { SigningKey, VerificationKey } from './signing-key.ts';

export type Jwt = {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
  /** What the signature is over. */
  readonly signed: string;
  readonly signature: Buffer;
};

/** Longer ones are none of ours, and reading them would cost. */
const maxTokenLength = 16 * 1024;

export function signJwt(key: SigningKey, claims: object): string {
  const header = { alg: key.algorithm, kid: key.id };
  const signed = `${encode(header)}.${encode(claims)}`;
  const signature = sign('sha256', Buffer.from(signed), cryptoKey(key.privateKey));
  return `${signed}.${signature.toString('base64url')}`;
}

/** Undefined for what has not the form of a token. Says nothing about its signature. */
export function readJwt(token: string): Jwt | undefined {
  if (token.length > maxTokenLength) return undefined;
  const match = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(token);
  if (match === null) return undefined;
  const [, head = '', body = '', end = ''] = match;
  const header = decode(head);
  const claims = decode(body);
  if (header === undefined || claims === undefined) return undefined;
  return { header, claims, signed: `${head}.${body}`, signature: Buffer.from(end, 'base64url') };
}

/** The algorithm is the key's, whatever the token says of itself. */
export function isSignedBy(key: VerificationKey, { header, signed, signature }: Jwt): boolean {
  return (
    header.alg === key.algorithm &&
    header.crit === undefined &&
    verify('sha256', Buffer.from(signed), cryptoKey(key.publicKey), signature)
  );
}

/** Elliptic signatures stand in tokens as two plain numbers; RSA keys ignore the encoding. */
function cryptoKey(key: KeyObject) {
  return { key, dsaEncoding: 'ieee-p1363' as const };
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function decode(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return isJsonObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
