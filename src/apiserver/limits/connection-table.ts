// Limits connections. A new connection is unauthenticated and counts against its client address, until its certificate or
// a request identifies the user; from then on it counts against that user. Both kinds have limits of their own, so that
// users keep their connections and get new ones however many anonymous clients open. At a limit, the holder of the most
// connections loses one: idle ones first, then the oldest.
import { createLinkedQueue, type LinkedQueue, type QueueEntry } from '../../host/linked-queue.ts';

export type ConnectionLimits = {
  /** In total; 0 is no limit. */
  readonly maxConnections: number;
  readonly maxConnectionsPerUser: number;
};

export type EvictReason = 'address' | 'unauthenticated' | 'user' | 'total';

export type TableOptions = ConnectionLimits & {
  readonly evicted: (reason: EvictReason) => void;
};

/** What the table must know of a connection. */
export type TrackedConnection = {
  readonly address: string;
  readonly close: () => void;
  /** Whether no request is in flight. */
  readonly isIdle: () => boolean;
};

export type TableEntry = {
  readonly connection: TrackedConnection;
  holder: string;
  /** Absent while it is unauthenticated. */
  user: string | undefined;
  isExempt: boolean;
  queueEntry: QueueEntry<TableEntry> | undefined;
};

export type ConnectionTable = {
  /** Never refuses: at a limit, another connection is evicted. */
  readonly admit: (connection: TrackedConnection) => TableEntry;
  /** The connection belongs to this user from now on. Administrators are exempt from the limit per user. */
  readonly identify: (entry: TableEntry, user: string, isExempt: boolean) => void;
  readonly remove: (entry: TableEntry) => void;
  readonly counts: () => { readonly unauthenticated: number; readonly users: number };
};

/** The share of unauthenticated connections: a handshake takes milliseconds, so a quarter is many at a time. */
const unauthenticatedShare = 1 / 4;
/** The share of unauthenticated connections that one address may hold. */
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
  const unauthenticated = createHolders();
  const users = createHolders();

  const remove = (entry: TableEntry): void =>
    (entry.user === undefined ? unauthenticated : users).remove(entry);
  const evict = (entry: TableEntry | undefined, reason: EvictReason): void => {
    if (entry === undefined) return;
    remove(entry);
    evicted(reason);
    entry.connection.close();
  };
  return {
    admit(connection) {
      const holder = addressGroup(connection.address);
      if (unauthenticated.of(holder) >= maxPerAddress)
        evict(unauthenticated.first(holder), 'address');
      else if (unauthenticated.size() >= maxUnauthenticated)
        evict(unauthenticated.first(unauthenticated.largest()), 'unauthenticated');
      const entry: TableEntry = {
        connection,
        holder,
        user: undefined,
        isExempt: false,
        queueEntry: undefined,
      };
      unauthenticated.add(entry);
      return entry;
    },
    identify(entry, user, isExempt) {
      if (entry.user !== undefined || entry.queueEntry === undefined) return;
      remove(entry);
      entry.user = user;
      entry.holder = user;
      entry.isExempt = isExempt;
      if (!isExempt && users.of(user) >= maxPerUser) evict(users.first(user), 'user');
      else if (users.size() >= maxUsers) evict(users.first(users.largest()), 'total');
      users.add(entry);
    },
    remove,
    counts: () => ({ unauthenticated: unauthenticated.size(), users: users.size() }),
  };
}

/** Providers assign each customer at least a /64, so IPv6 addresses count by that prefix. */
export function addressGroup(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address;
  const [head = '', tail] = address.split('::', 2);
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const missing = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  return [...before, ...Array<string>(missing).fill('0'), ...after].slice(0, 4).join(':');
}

type Holders = {
  readonly add: (entry: TableEntry) => void;
  readonly remove: (entry: TableEntry) => void;
  readonly of: (holder: string) => number;
  /** The one to evict first. */
  readonly first: (holder: string | undefined) => TableEntry | undefined;
  readonly largest: () => string | undefined;
  readonly size: () => number;
};

/** If none of the oldest so many is idle, the oldest is evicted. */
const maxExamined = 100;

function createHolders(): Holders {
  const queues = new Map<string, LinkedQueue<TableEntry>>();
  let size = 0;
  return {
    add(entry) {
      const queue = queues.get(entry.holder) ?? createLinkedQueue<TableEntry>();
      queues.set(entry.holder, queue);
      entry.queueEntry = queue.add(entry);
      size += 1;
    },
    remove(entry) {
      const queue = queues.get(entry.holder);
      if (queue === undefined || entry.queueEntry?.isQueued !== true) return;
      queue.remove(entry.queueEntry);
      entry.queueEntry = undefined;
      size -= 1;
      if (queue.size() === 0) queues.delete(entry.holder);
    },
    of: (holder) => queues.get(holder)?.size() ?? 0,
    first(holder) {
      const oldest = holder === undefined ? undefined : queues.get(holder)?.first();
      let entry = oldest;
      for (let n = 0; entry !== undefined && n < maxExamined; n += 1) {
        if (entry.value.connection.isIdle()) return entry.value;
        entry = entry.next;
      }
      return oldest?.value;
    },
    largest() {
      let found: string | undefined;
      let maxSize = 0;
      for (const [holder, queue] of queues) {
        // Administrators keep theirs, to repair what others caused.
        if (queue.size() <= maxSize || queue.first()?.value.isExempt === true) continue;
        found = holder;
        maxSize = queue.size();
      }
      return found;
    },
    size: () => size,
  };
}
