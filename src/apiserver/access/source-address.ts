// From which address a node speaks to the server: the one thing about its addresses that it does not say itself. Kept with the
// user, so that a certificate request of the node carries it (spec.extra) and no client can write it.
import { canonicalHost } from '../../meta/canonical-host.ts';
import type { Peer } from '../message.ts';
import { nodeIdentity } from './known-users.ts';
import type { User } from './user.ts';

export const sourceAddressKey = 'fairlead.dev/source-address';

/** One object for each that is given: others remember what they know by it. */
const known = new WeakMap<User, User>();

/** Of users that are nodes; others stay as they are. */
export function withSourceAddress(user: User, { address }: Peer): User {
  if (address === undefined || nodeIdentity(user) === undefined) return user;
  const source = canonicalHost(address);
  const before = known.get(user);
  if (before !== undefined && sourceAddressOf(before) === source) return before;
  const made = { ...user, extra: { ...user.extra, [sourceAddressKey]: [source] } };
  known.set(user, made);
  return made;
}

/** `user` as it acts for `asking`: the address is only ever that of the connection. */
export function withoutSource(user: User, asking: User): User {
  if (user === asking || sourceAddressOf(user) === undefined) return user;
  const { [sourceAddressKey]: _claimed, ...extra } = user.extra ?? {};
  return { ...user, extra };
}

export function sourceAddressOf({ extra }: Pick<User, 'extra'>): string | undefined {
  return extra?.[sourceAddressKey]?.[0];
}
