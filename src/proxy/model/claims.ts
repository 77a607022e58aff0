// Who has an address and port, or a node port, when several ask for it: exactly one, and always the same one.

export type Claim = {
  /** What is claimed, as `10.96.0.1 80 TCP`, or `30080 TCP` for a node port. */
  readonly name: string;
  readonly rank: ClaimRank;
};

/** Who owns an address goes before who only names it, however old: the server gave out cluster IPs, a balancer its own. */
const ranks = ['clusterIP', 'loadBalancer', 'other'] as const;
export type ClaimRank = (typeof ranks)[number];

export type Claimant = {
  readonly portKey: string;
  /** RFC 3339; the older Service goes first. */
  readonly created: string;
};

export type Claims = {
  /** Takes a claim, new or known. Returns the keys of ports that gained or lost something by it. */
  readonly add: (claimant: Claimant, claim: Claim) => readonly string[];
  /** Gives a claim up; returns the same. */
  readonly remove: (portKey: string, name: string) => readonly string[];
  /** Whether the port has what it claims. */
  readonly has: (portKey: string, name: string) => boolean;
};

type Contender = Claimant & Claim;

export function createClaims(): Claims {
  /** The best first. Nearly always there is one alone, and there are many of them: no list for that one. */
  const claimed = new Map<string, Contender | readonly Contender[]>();
  const contenders = (name: string): readonly Contender[] => {
    const found = claimed.get(name);
    return found === undefined ? [] : isList(found) ? found : [found];
  };
  const replace = (name: string, list: readonly Contender[]): readonly string[] => {
    const before = contenders(name)[0]?.portKey;
    const [first] = list;
    if (first === undefined) claimed.delete(name);
    else claimed.set(name, list.length === 1 ? first : list);
    if (before === first?.portKey) return [];
    return [before, first?.portKey].filter((key) => key !== undefined);
  };
  const others = (portKey: string, name: string): readonly Contender[] =>
    contenders(name).filter((one) => one.portKey !== portKey);
  return {
    has: (portKey, name) => contenders(name)[0]?.portKey === portKey,
    add: ({ portKey, created }, { name, rank }) => {
      const contender = { portKey, created, name, rank };
      return replace(name, [...others(portKey, name), contender].sort(compareContenders));
    },
    remove: (portKey, name) => replace(name, others(portKey, name)),
  };
}

function isList(found: Contender | readonly Contender[]): found is readonly Contender[] {
  return Array.isArray(found);
}

function compareContenders(a: Contender, b: Contender): number {
  if (a.rank !== b.rank) return ranks.indexOf(a.rank) - ranks.indexOf(b.rank);
  if (a.created !== b.created) return a.created < b.created ? -1 : 1;
  return a.portKey < b.portKey ? -1 : a.portKey > b.portKey ? 1 : 0;
}
