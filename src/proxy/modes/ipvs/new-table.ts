// The table without any service, and how to know it again.
import { createHash } from 'node:crypto';
import type { Element, Operation } from '../../../host/nftables/objects.ts';
import type { NodeState } from '../../model/state.ts';
import { nodeChains } from './chains.ts';
import { allSets, writtenRules } from './layout.ts';

export type NewTable = {
  readonly operations: readonly Operation[];
  /** Stands in the set of written rules; another one there, or none, means another table. */
  readonly fingerprint: Element;
  readonly rules: number;
};

export function newTable(node: NodeState): NewTable {
  const chains = nodeChains(node);
  const fingerprint = fingerprintOf(JSON.stringify([allSets, chains]));
  return {
    operations: [
      { kind: 'add-table' },
      ...allSets.map((set) => ({ kind: 'add-set', set }) as const),
      ...chains.map(({ chain }) => ({ kind: 'add-chain', chain }) as const),
      ...chains.flatMap(({ chain: { name }, rules }) =>
        rules.map(
          (statements) => ({ kind: 'add-rule', rule: { chain: name, statements } }) as const,
        ),
      ),
      { kind: 'add-elements', set: writtenRules, elements: [fingerprint] },
    ],
    fingerprint,
    rules: chains.reduce((sum, { rules }) => sum + rules.length, 0),
  };
}

function fingerprintOf(text: string): Element {
  const digest = createHash('sha256').update(text).digest();
  return { key: [digest.readUInt32BE(0), digest.readUInt32BE(4)] };
}
