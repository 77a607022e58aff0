// Rules of many chains as one number, in whatever order the chains come: what was written and what the kernel holds are compared by
// it, so that the text of a hundred thousand rules need not be held in memory, let alone twice.
import { createHash } from 'node:crypto';
import { isOwnChain } from './names.ts';
import type { Table } from './rules.ts';
import { canonicalLine, type SavedChain, type SavedRules } from './saved-rules.ts';

export type Fingerprint = {
  readonly add: (chains: Iterable<SavedChain>) => void;
  readonly remove: (chains: Iterable<SavedChain>) => void;
  readonly value: () => number;
};

/** Two values of so many bits can be added as numbers. */
const hashBytes = 6;
const values = 2 ** (8 * hashBytes);

export function createFingerprint(): Fingerprint {
  let sum = 0;
  return {
    add(chains) {
      for (const chain of chains) sum = (sum + hashOf(chain)) % values;
    },
    remove(chains) {
      for (const chain of chains) sum = (sum + values - hashOf(chain)) % values;
    },
    value: () => sum,
  };
}

/** An empty chain counts as none: one that another program's rule jumps to cannot be removed, only flushed. */
function hashOf({ table, name, lines }: SavedChain): number {
  if (lines.length === 0) return 0;
  const text = [table, name, ...lines.map(canonicalLine)].join('\n');
  return createHash('sha256').update(text).digest().readUIntBE(0, hashBytes);
}

export type Survey = {
  readonly take: (chain: SavedChain) => void;
  /** Of all chains that are ours. */
  readonly fingerprint: () => number;
  /** All that is not ours, and of our chains that they are there. */
  readonly rest: () => SavedRules;
};

/** Takes what the kernel holds chain by chain, and keeps no rule of ours. */
export function createSurvey(): Survey {
  const own = createFingerprint();
  const rest = new Map<Table, Map<string, readonly string[]>>();
  return {
    take(chain) {
      const { table, name, lines } = chain;
      const isOwn = isOwnChain(table, name);
      if (isOwn) own.add([chain]);
      const chains = rest.get(table) ?? new Map<string, readonly string[]>();
      chains.set(name, isOwn ? [] : lines);
      rest.set(table, chains);
    },
    fingerprint: own.value,
    rest: () => rest,
  };
}
