// Authenticates bootstrap tokens: the user is system:bootstrap:ID, in system:bootstrappers and the groups of the token.
// Upstream: plugin/pkg/auth/authenticator/token/bootstrap.
import { createHash, timingSafeEqual } from 'node:crypto';
import {
  bootstrappersGroup,
  bootstrapTokenName,
  bootstrapTokenNamespace,
  hasExpired,
  readBootstrapToken,
  splitToken,
} from '../../kinds/secret/bootstrap-token.ts';
import type { Secret } from '../../kinds/secret/types.ts';
import type { TokenAuthenticator } from '../access/authenticate.ts';
import type { ObjectReader } from '../cache/object-reader.ts';

export function createBootstrapAuthenticator(
  reader: ObjectReader,
  now: () => number,
): TokenAuthenticator {
  return (token) => {
    const given = splitToken(token);
    if (given === undefined) return undefined;
    const name = bootstrapTokenName(given.id);
    const found = reader.get('secrets', bootstrapTokenNamespace, name) as Secret | undefined;
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) return undefined;
    const known = readBootstrapToken(found);
    if (known === undefined || !isSame(known.secret, given.secret)) return undefined;
    if (hasExpired(known, now()) || !known.usages.includes('authentication')) return undefined;
    return {
      user: {
        name: `system:bootstrap:${known.id}`,
        groups: [bootstrappersGroup, ...known.groups],
      },
    };
  };
}

/** Takes as long whatever is wrong. */
function isSame(a: string, b: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}
