// The address from which a node connects to the server: the one address that it does not report itself. Stored in the
// extra values of its user, so that its certificate requests contain it (spec.extra) and clients cannot set it.
import { canonicalHost } from '../../meta/canonical-host.ts';
import type { Peer } from '../message.ts';
import { nodeIdentity } from './known-users.ts';
import type { User } from './user.ts';

export const sourceAddressKey = 'fairlead.dev/source-address';

/** One object for each user: other caches have users as keys. */
const withSource = new WeakMap<User, User>();

/** Adds the address to users that are nodes. */
export function withSourceAddress(user: User, { address }: Peer): User {
  if (address === undefined || nodeIdentity(user) === undefined) return user;
  const source = canonicalHost(address);
  const cached = withSource.get(user);
  if (cached !== undefined && sourceAddressOf(cached) === source) return cached;
  const extended = { ...user, extra: { ...user.extra, [sourceAddressKey]: [source] } };
  withSource.set(user, extended);
  return extended;
}

/** Removes the address from an impersonated user: it is always that of the connection. */
export function withoutSource(user: User, requester: User): User {
  if (user === requester || sourceAddressOf(user) === undefined) return user;
  const { [sourceAddressKey]: _claimed, ...extra } = user.extra ?? {};
  return { ...user, extra };
}

export function sourceAddressOf({ extra }: Pick<User, 'extra'>): string | undefined {
  return extra?.[sourceAddressKey]?.[0];
}
