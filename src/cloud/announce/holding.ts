// The addresses that a node answers for, and when it keeps or releases them.

export type Standing =
  /** Answers for nothing: its proxy is not ready. */
  | 'out'
  /** The others observe its lease, and it observes theirs. */
  | 'member'
  /** Disconnected from the API: takes no new addresses, and keeps those that no other node claims. */
  | 'cut-off';

export type StandingInput = {
  readonly now: number;
  /** When the own lease was last renewed. */
  readonly renewedAt: number | undefined;
  /** When the watch last delivered a renewal of our own lease: a stale watch makes live nodes look dead. */
  readonly seenAt: number | undefined;
  readonly leaseMs: number;
};

/** Shorter than the lease: a disconnected node knows it before others take over. */
const patience = 2 / 3;

export function standingOf({ now, renewedAt, seenAt, leaseMs }: StandingInput): Standing {
  if (renewedAt === undefined) return 'out';
  const isFresh = (at: number | undefined): boolean =>
    at !== undefined && now - at <= leaseMs * patience;
  return isFresh(renewedAt) && isFresh(seenAt) ? 'member' : 'cut-off';
}

export type Holding = {
  readonly addresses: () => readonly string[];
  /** Replaces the addresses; returns the new ones. */
  readonly set: (addresses: readonly string[], now: number) => readonly string[];
  /** Another node has claimed the address. */
  readonly claimed: (address: string, now: number) => void;
  /** Releases the addresses that others have claimed; returns whether there were any. */
  readonly yieldClaimed: (since: number) => boolean;
  /** The addresses to announce now (gratuitous ARP, unsolicited NA). */
  readonly due: (now: number) => readonly string[];
};

/** Frames get lost, and some neighbours accept only a second announcement. */
const announcements = 3;
const betweenMs = 1000;

type Held = { readonly left: number; readonly dueAt: number };

export function createHolding(): Holding {
  const held = new Map<string, Held>();
  const claims = new Map<string, number>();
  return {
    addresses: () => [...held.keys()],
    set(addresses, now) {
      const wanted = new Set(addresses);
      for (const address of held.keys()) if (!wanted.has(address)) held.delete(address);
      const added = addresses.filter((address) => !held.has(address));
      for (const address of added) held.set(address, { left: announcements, dueAt: now });
      return added;
    },
    claimed: (address, now) => void claims.set(address, now),
    yieldClaimed(since) {
      const lost = [...held.keys()].filter((address) => (claims.get(address) ?? 0) > since);
      for (const address of lost) held.delete(address);
      claims.clear();
      return lost.length > 0;
    },
    due(now) {
      const due = [...held].filter(([, { left, dueAt }]) => left > 0 && dueAt <= now);
      for (const [address, { left }] of due)
        held.set(address, { left: left - 1, dueAt: now + betweenMs });
      return due.map(([address]) => address);
    },
  };
}
