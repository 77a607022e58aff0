// The addresses that a node answers for, and how its word about them is kept or given up.

export type Standing =
  /** Wants nothing: its proxy does not work. */
  | 'out'
  /** Known to be alive by the others, and knows of them. */
  | 'member'
  /** Cut off from the API: it neither takes anything nor gives up what nobody else claims. */
  | 'cut-off';

export type StandingInput = {
  readonly now: number;
  /** When the own lease was last renewed. */
  readonly renewedAt: number | undefined;
  /** When a renewal of the own lease last came back by the watch: an old watch makes the living look dead. */
  readonly seenAt: number | undefined;
  readonly leaseMs: number;
};

/** Shorter than a lease: who is cut off knows it before the others take over. */
const patience = 2 / 3;

export function standingOf({ now, renewedAt, seenAt, leaseMs }: StandingInput): Standing {
  if (renewedAt === undefined) return 'out';
  const isFresh = (at: number | undefined): boolean =>
    at !== undefined && now - at <= leaseMs * patience;
  return isFresh(renewedAt) && isFresh(seenAt) ? 'member' : 'cut-off';
}

export type Holding = {
  readonly addresses: () => readonly string[];
  /** Replaces them; returns those that are new. */
  readonly set: (addresses: readonly string[], now: number) => readonly string[];
  /** Another node says that it has the address. */
  readonly claimed: (address: string, now: number) => void;
  /** Gives up what others have claimed since; returns whether there was anything. */
  readonly yieldClaimed: (since: number) => boolean;
  /** Those to be announced to everybody now. */
  readonly due: (now: number) => readonly string[];
};

/** A frame gets lost now and then, and some neighbours listen only to the second. */
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
