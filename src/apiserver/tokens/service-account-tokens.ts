// Issues and authenticates service account tokens.
import { randomUUID } from 'node:crypto';
import { goQuoteList } from '../../schema/go-quote.ts';
import type { TokenAuthenticator } from '../access/authenticate.ts';
import { serviceAccountGroups, serviceAccountUser } from '../access/known-users.ts';
import type { User } from '../access/user.ts';
import type { ObjectReader } from '../cache/object-reader.ts';
import { problemWithClaims } from './check-claims.ts';
import { type Reference, readClaims, type TokenClaims, writeClaims } from './claims.ts';
import { isSignedBy, type Jwt, readJwt, signJwt } from './jwt.ts';
import type { SigningKey, VerificationKey } from './signing-key.ts';

export type TokenSpec = {
  readonly namespace: string;
  readonly serviceAccount: Reference;
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  readonly pod?: Reference;
  readonly secret?: Reference;
  readonly node?: { readonly name: string; readonly uid?: string };
};

export type TokenIssuer = {
  readonly issuer: string;
  /** Default audiences: this server. */
  readonly audiences: readonly string[];
  readonly key: SigningKey;
  /** All whose tokens are good, the signing key among them; absent: that one alone. */
  readonly keys?: readonly VerificationKey[];
  /** `now` in milliseconds. */
  readonly issue: (spec: TokenSpec, now: number) => string;
};

export function createTokenIssuer(options: Omit<TokenIssuer, 'issue'>): TokenIssuer {
  const { issuer, key } = options;
  const issue: TokenIssuer['issue'] = ({ expirationSeconds, ...spec }, now) => {
    const seconds = Math.floor(now / 1000);
    const { namespace, serviceAccount } = spec;
    const claims: TokenClaims = {
      ...spec,
      issuer,
      subject: serviceAccountUser({ namespace, name: serviceAccount.name }),
      issuedAt: seconds,
      notBefore: seconds,
      expires: seconds + expirationSeconds,
      id: randomUUID(),
    };
    return signJwt(key, writeClaims(claims));
  };
  return { ...options, issue };
}

export type TokenChecks = {
  readonly issuer: TokenIssuer;
  readonly reader: ObjectReader;
  /** Milliseconds. */
  readonly now: () => number;
};

/** Tokens whose signature is known to be good; a client sends the same one with every request. */
const maxKeptTokens = 4096;

export function createTokenAuthenticator({ issuer, reader, now }: TokenChecks): TokenAuthenticator {
  const verified = new Map<string, TokenClaims>();

  /** What never changes about a token: its form, its issuer and its signature. */
  function verify(token: string): TokenClaims | { readonly error: string } | undefined {
    const known = verified.get(token);
    if (known !== undefined) return known;
    const jwt = readJwt(token);
    if (jwt === undefined || jwt.claims.iss !== issuer.issuer) return undefined;
    if (!keysOf(issuer).some((key) => isSigned(key, jwt))) {
      return { error: 'go-jose/go-jose: error in cryptographic primitive' };
    }
    const claims = readClaims(jwt.claims);
    if (claims === undefined) return undefined;
    const [oldest] = verified.keys();
    if (verified.size >= maxKeptTokens && oldest !== undefined) verified.delete(oldest);
    verified.set(token, claims);
    return claims;
  }

  return (token, requested) => {
    const claims = verify(token);
    if (claims === undefined || 'error' in claims) return claims;
    const wanted = requested.length === 0 ? issuer.audiences : requested;
    const audiences = claims.audiences.filter((one) => wanted.includes(one));
    if (audiences.length === 0) {
      const error = `token audiences ${goQuoteList(claims.audiences)} is invalid for the target audiences ${goQuoteList(wanted)}`;
      return { error };
    }
    return problemWithClaims(reader, claims, now()) ?? { user: userOf(claims), audiences };
  };
}

export function keysOf({ key, keys = [key] }: Pick<TokenIssuer, 'key' | 'keys'>) {
  return keys;
}

/** A token with an unknown key ID was signed by a key that has been removed. */
function isSigned(key: VerificationKey, jwt: Jwt): boolean {
  const { kid } = jwt.header;
  return (kid === undefined || kid === key.id) && isSignedBy(key, jwt);
}

const extraPrefix = 'authentication.kubernetes.io/';

function userOf({ namespace, serviceAccount, pod, node, id }: TokenClaims): User {
  const extra: readonly (readonly [string, string | undefined])[] = [
    ['credential-id', `JTI=${id}`],
    ['node-name', node?.name],
    ['node-uid', node?.uid],
    ['pod-name', pod?.name],
    ['pod-uid', pod?.uid],
  ];
  return {
    name: serviceAccountUser({ namespace, name: serviceAccount.name }),
    uid: serviceAccount.uid,
    groups: serviceAccountGroups(namespace),
    extra: Object.fromEntries(
      extra.flatMap(([key, value]) =>
        value === undefined ? [] : [[`${extraPrefix}${key}`, [value]]],
      ),
    ),
  };
}
