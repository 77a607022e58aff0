// Decides which service port has an address and port, or a node port, that several request: exactly one, on every node the same.

export type Claim = {
  /** What is claimed, as `10.96.0.1 80 TCP`, or `30080 TCP` for a node port. */
  readonly name: string;
  readonly rank: ClaimRank;
};

/** Allocated addresses come before those that a Service only names, whatever its age. */
const ranks = ['clusterIP', 'loadBalancer', 'other'] as const;
export type ClaimRank = (typeof ranks)[number];

export type Claimant = {
  readonly portKey: string;
  /** RFC 3339; the older Service has precedence. */
  readonly created: string;
};

export type Claims = {
  /** Adds or replaces a claim. Returns the keys of ports that gained or lost what it names. */
  readonly add: (claimant: Claimant, claim: Claim) => readonly string[];
  /** Removes a claim; returns the same. */
  readonly remove: (portKey: string, name: string) => readonly string[];
  /** Whether the port has what it claims. */
  readonly has: (portKey: string, name: string) => boolean;
};

type RankedClaim = Claimant & Claim;

export function createClaims(): Claims {
  /** In order of precedence. Nearly all names have a single claim, which is stored without an array to save memory. */
  const claimed = new Map<string, RankedClaim | readonly RankedClaim[]>();
  const claimantsOf = (name: string): readonly RankedClaim[] => {
    const found = claimed.get(name);
    return found === undefined ? [] : isList(found) ? found : [found];
  };
  const replace = (name: string, list: readonly RankedClaim[]): readonly string[] => {
    const before = claimantsOf(name)[0]?.portKey;
    const [first] = list;
    if (first === undefined) claimed.delete(name);
    else claimed.set(name, list.length === 1 ? first : list);
    if (before === first?.portKey) return [];
    return [before, first?.portKey].filter((key) => key !== undefined);
  };
  const others = (portKey: string, name: string): readonly RankedClaim[] =>
    claimantsOf(name).filter((one) => one.portKey !== portKey);
  return {
    has: (portKey, name) => claimantsOf(name)[0]?.portKey === portKey,
    add: ({ portKey, created }, { name, rank }) => {
      const claim = { portKey, created, name, rank };
      return replace(name, [...others(portKey, name), claim].sort(compareContenders));
    },
    remove: (portKey, name) => replace(name, others(portKey, name)),
  };
}

function isList(found: RankedClaim | readonly RankedClaim[]): found is readonly RankedClaim[] {
  return Array.isArray(found);
}

function compareContenders(a: RankedClaim, b: RankedClaim): number {
  if (a.rank !== b.rank) return ranks.indexOf(a.rank) - ranks.indexOf(b.rank);
  if (a.created !== b.created) return a.created < b.created ? -1 : 1;
  return a.portKey < b.portKey ? -1 : a.portKey > b.portKey ? 1 : 0;
}
