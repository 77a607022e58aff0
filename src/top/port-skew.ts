// Whether the connections of a port, or their bytes, are where an even spread would put them; and why not.
import { causesOfConnections, type Deviating, type SkewFacts } from './causes.ts';
import type { Comparison } from './compare-shares.ts';
import { type Heavy, heavyConnections } from './heavy-connections.ts';
import type { Share, Skew, SkewVerdict } from './top-services.ts';

/** Smaller differences are of no consequence, however certain they are. */
const minDifference = 0.2;
/** As statisticians do, of each endpoint: with fewer, nearly every spread could be an even one. */
const minExpected = 5;
/** So many times its share no endpoint has where the spread is called even. */
const excludedFactor = 2;

function isSure({ connections, usable, shares }: Comparison): boolean {
  const isNarrow = ({ even, high }: Share): boolean => even === 0 || high < excludedFactor * even;
  return connections >= minExpected * usable.length && [...shares.values()].every(isNarrow);
}

export function portSkew(facts: SkewFacts): Skew {
  const { comparison } = facts;
  const { connections, usable, shares } = comparison;
  if (connections === 0) return plain('no-connections', 'no connections');
  if (usable.length < 2) return plain('one-endpoint', 'one endpoint gets all');
  const deviating = unevenShares(comparison);
  const heavy = heavyConnections(facts);
  const [worst] = deviating;
  if (worst === undefined) {
    if (heavy !== undefined) return skewOfBytes(facts, heavy);
    return isSure(comparison)
      ? plain('even', 'even')
      : plain('too-few', `too few connections to say (${connections})`);
  }
  const [key, share] = worst;
  const causes = causesOfConnections(facts, {
    deviating,
    unexplained: deviatingShares(shares, ({ expected }) => expected),
  });
  const factor = factorOf(share);
  return {
    verdict: 'skewed',
    of: 'connections',
    factor,
    endpoint: key.replace(' ', ':'),
    causes: heavy === undefined ? causes : [...causes, heavy.cause],
    sentence: `${facts.nameOf(key)} has ${factor} times its even share of ${connections} connections`,
  };
}

const plain = (verdict: SkewVerdict, sentence: string): Skew => ({ verdict, causes: [], sentence });

/** Those that have more or fewer than that with certainty, and by much; the one that stands out most comes first. */
function deviatingShares(
  shares: ReadonlyMap<string, Share>,
  wanted: (share: Share) => number,
): Deviating {
  return [...shares]
    .filter(([, share]) => {
      const want = wanted(share);
      const isCertain = want < share.low || want > share.high;
      return isCertain && Math.abs(share.observed - want) > minDifference * want;
    })
    .sort(([, a], [, b]) => distance(b, wanted) - distance(a, wanted));
}

/**
 * Those that certainly have not their even share, and those that the rules of the nodes do not give it: what is expected is computed from
 * the nodes at which connections began, and needs no sample.
 */
function unevenShares({ connections, usable, shares }: Comparison): Deviating {
  const certain = deviatingShares(shares, ({ even }) => even);
  if (certain.length > 0 || connections < minExpected * usable.length) return certain;
  const isByRules = ({ even, expected, low, high }: Share): boolean =>
    Math.abs(expected - even) > minDifference * even && expected > low && expected < high;
  return [...shares]
    .filter(([, share]) => isByRules(share))
    .sort(([, a], [, b]) => Math.abs(b.expected - b.even) - Math.abs(a.expected - a.even));
}

const distance = (share: Share, wanted: (share: Share) => number): number =>
  Math.abs(share.observed - wanted(share));

const factorOf = ({ observed, even }: Share): number =>
  even === 0 ? 0 : Math.round((observed / even) * 100) / 100;

function skewOfBytes({ nameOf }: SkewFacts, { key, factor, cause }: Heavy): Skew {
  return {
    verdict: 'skewed',
    of: 'bytes',
    factor,
    endpoint: key.replace(' ', ':'),
    causes: [cause],
    sentence: `${nameOf(key)} has ${factor} times its even share of the bytes`,
  };
}
