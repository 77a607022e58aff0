// Who holds a connection. A connection begins as nobody's and counts against the address that it comes from, until its certificate or a
// request shows whose it is; from then on it counts against that user. Both kinds have places of their own, so whatever
// strangers open, users keep their connections and get new ones. Where places run out, whoever holds most gives one up, idle
// and old ones first.
import { createLinkedQueue, type LinkedQueue, type QueueEntry } from '../../host/linked-queue.ts';

export type ConnectionLimits = {
  /** All; 0 is no limit. */
  readonly maxConnections: number;
  readonly maxConnectionsPerUser: number;
};

export type EvictReason = 'address' | 'unauthenticated' | 'user' | 'total';

export type TableOptions = ConnectionLimits & {
  readonly evicted: (reason: EvictReason) => void;
};

/** What the table must know of a connection. */
export type Held = {
  readonly address: string;
  readonly close: () => void;
  /** Whether nothing is asked on it. */
  readonly isIdle: () => boolean;
};

export type Seat = {
  readonly held: Held;
  owner: string;
  /** Absent until it is known whose it is. */
  user: string | undefined;
  isExempt: boolean;
  place: QueueEntry<Seat> | undefined;
};

export type ConnectionTable = {
  /** A new one always gets in; another one may have to go for it. */
  readonly admit: (held: Held) => Seat;
  /** It is known whose it is. Administrators have no limit of their own. */
  readonly identify: (seat: Seat, user: string, isExempt: boolean) => void;
  readonly leave: (seat: Seat) => void;
  readonly counts: () => { readonly unauthenticated: number; readonly users: number };
};

/** Of all places, those for connections of nobody yet: a handshake takes milliseconds, so this many are many at a time. */
const unauthenticatedShare = 1 / 4;
/** Of these, those that one address may hold. */
const perAddressShare = 1 / 2;

export function createConnectionTable(options: TableOptions): ConnectionTable {
  const { maxConnections, maxConnectionsPerUser, evicted } = options;
  const share = (of: number, part: number): number => Math.max(1, Math.floor(of * part));
  const maxUnauthenticated =
    maxConnections === 0 ? Infinity : share(maxConnections, unauthenticatedShare);
  const maxPerAddress =
    maxConnections === 0 ? Infinity : share(maxUnauthenticated, perAddressShare);
  const maxUsers =
    maxConnections === 0 ? Infinity : share(maxConnections, 1 - unauthenticatedShare);
  const maxPerUser = maxConnectionsPerUser === 0 ? Infinity : maxConnectionsPerUser;
  const strangers = createHolders();
  const users = createHolders();

  const leave = (seat: Seat): void => (seat.user === undefined ? strangers : users).remove(seat);
  const evict = (seat: Seat | undefined, reason: EvictReason): void => {
    if (seat === undefined) return;
    leave(seat);
    evicted(reason);
    seat.held.close();
  };
  return {
    admit(held) {
      const owner = addressGroup(held.address);
      if (strangers.of(owner) >= maxPerAddress) evict(strangers.first(owner), 'address');
      else if (strangers.size() >= maxUnauthenticated)
        evict(strangers.first(strangers.largest()), 'unauthenticated');
      const seat: Seat = { held, owner, user: undefined, isExempt: false, place: undefined };
      strangers.add(seat);
      return seat;
    },
    identify(seat, user, isExempt) {
      if (seat.user !== undefined || seat.place === undefined) return;
      leave(seat);
      seat.user = user;
      seat.owner = user;
      seat.isExempt = isExempt;
      if (!isExempt && users.of(user) >= maxPerUser) evict(users.first(user), 'user');
      else if (users.size() >= maxUsers) evict(users.first(users.largest()), 'total');
      users.add(seat);
    },
    leave,
    counts: () => ({ unauthenticated: strangers.size(), users: users.size() }),
  };
}

/** A customer of a provider has a /64 of IPv6 addresses at least. */
export function addressGroup(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address;
  const [head = '', tail] = address.split('::', 2);
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const missing = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  return [...before, ...Array<string>(missing).fill('0'), ...after].slice(0, 4).join(':');
}

type Holders = {
  readonly add: (seat: Seat) => void;
  readonly remove: (seat: Seat) => void;
  readonly of: (owner: string) => number;
  /** The one to give up first. */
  readonly first: (owner: string | undefined) => Seat | undefined;
  readonly largest: () => string | undefined;
  readonly size: () => number;
};

/** So many are looked at for one that is idle; beyond, the oldest goes. */
const maxExamined = 100;

function createHolders(): Holders {
  const owners = new Map<string, LinkedQueue<Seat>>();
  let size = 0;
  return {
    add(seat) {
      const line = owners.get(seat.owner) ?? createLinkedQueue<Seat>();
      owners.set(seat.owner, line);
      seat.place = line.add(seat);
      size += 1;
    },
    remove(seat) {
      const line = owners.get(seat.owner);
      if (line === undefined || seat.place?.isQueued !== true) return;
      line.remove(seat.place);
      seat.place = undefined;
      size -= 1;
      if (line.size() === 0) owners.delete(seat.owner);
    },
    of: (owner) => owners.get(owner)?.size() ?? 0,
    first(owner) {
      const oldest = owner === undefined ? undefined : owners.get(owner)?.first();
      let place = oldest;
      for (let n = 0; place !== undefined && n < maxExamined; n += 1) {
        if (place.value.held.isIdle()) return place.value;
        place = place.next;
      }
      return oldest?.value;
    },
    largest() {
      let found: string | undefined;
      let most = 0;
      for (const [owner, line] of owners) {
        // Administrators come to mend what others broke.
        if (line.size() <= most || line.first()?.value.isExempt === true) continue;
        found = owner;
        most = line.size();
      }
      return found;
    },
    size: () => size,
  };
}
