// What stands in the set of written rules: by whom a chain, and the table as a whole, would have been written the same way.
import { createHash } from 'node:crypto';
import type { Entry } from './fragment.ts';
import { baseChains, fixedSets, writtenRules } from './layout.ts';
import type { ChainRules } from './rules.ts';

/** A chain's name, then its rules; one that says the same of both is the same chain. */
export function chainFingerprint({ chain, rules }: ChainRules): Entry {
  return entryOf(chain.name, JSON.stringify(rules));
}

/** Sets and hooks cannot be changed once they are made: another fingerprint means another table. */
export const layoutFingerprint: Entry = entryOf('layout', JSON.stringify([fixedSets, baseChains]));

function entryOf(name: string, content: string): Entry {
  return { set: writtenRules, element: { key: [number32(name), number32(content)] } };
}

function number32(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0);
}
