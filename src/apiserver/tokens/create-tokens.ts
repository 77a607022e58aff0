// Assembles the token authenticators and the token issuer of this server.
import type { Log } from '../../observe/log.ts';
import type { TokenAuthenticator } from '../access/authenticate.ts';
import type { ObjectReader } from '../cache/object-reader.ts';
import { createBootstrapAuthenticator } from './bootstrap-tokens.ts';
import { followTokenFile } from './follow-token-file.ts';
import {
  createTokenAuthenticator,
  createTokenIssuer,
  type TokenIssuer,
} from './service-account-tokens.ts';
import { makeSigningKey, type SigningKey, type VerificationKey } from './signing-key.ts';

export type TokenOptions = {
  /** Signs tokens of service accounts; absent: a new one that ends with the process, and its tokens with it. */
  readonly signingKey?: SigningKey;
  /** Keys besides it whose tokens are good: those that signed before, or that others sign with. */
  readonly verificationKeys?: readonly VerificationKey[];
  /** How the server calls itself in tokens. */
  readonly issuer?: string;
  /** Whom tokens must be for to be good here; absent: the issuer. */
  readonly audiences?: readonly string[];
  /** A list of tokens that are good here. */
  readonly file?: string;
};

export type Tokens = {
  readonly issuer: TokenIssuer;
  readonly authenticators: readonly TokenAuthenticator[];
};

export const defaultIssuer = 'https://kubernetes.default.svc.cluster.local';

type World = {
  readonly reader: ObjectReader;
  /** Milliseconds. */
  readonly now: () => number;
  readonly log: Log;
};

export function createTokens(options: TokenOptions, { reader, now, log }: World): Tokens {
  const { issuer: name = defaultIssuer, file } = options;
  const { signingKey: key = makeSigningKey(), audiences = [name] } = options;
  const others = (options.verificationKeys ?? []).filter(({ id }) => id !== key.id);
  const issuer = createTokenIssuer({ issuer: name, audiences, key, keys: [key, ...others] });
  return {
    issuer,
    authenticators: [
      ...(file === undefined ? [] : [followTokenFile({ path: file, audiences, now, log })]),
      createTokenAuthenticator({ issuer, reader, now }),
      createBootstrapAuthenticator(reader, now),
    ],
  };
}
