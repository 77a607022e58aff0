// From what the table holds to what it must hold, as steps of transactions. Two ways to the same end: from the fragments before
// and after where only some changed, and from what the kernel says it holds.
import type { Element, NftSet, Operation } from '../../../host/nftables/objects.ts';
import { createChainDifference, type WrittenChains } from './diff-chains.ts';
import {
  createElementDifference,
  type ElementDifference,
  keyText,
  leaveElement,
  takeElement,
} from './diff-elements.ts';
import { chainFingerprint, layoutFingerprint } from './fingerprint.ts';
import type { Entry, Fragment } from './fragment.ts';
import { fixedSets, ownSets, writtenRules } from './layout.ts';
import type { ChainRules } from './rules.ts';
import type { Uses } from './uses.ts';

export type Difference = {
  /**
   * A transaction to be made before. A packet is led through rules of the moment it came, but looks into sets as they are when it gets
   * there: a verdict must not lead it to a chain that had no rules in its moment. So chains get theirs before anything leads to them.
   */
  readonly preparation: readonly Operation[];
  readonly operations: readonly Operation[];
  /** No longer used, and empty from now on. Old kernels count a use until some time after it ended: deleted later. */
  readonly staleChains: readonly string[];
  /** Elements and chains that come, go or change. */
  readonly changes: number;
};

/** What the kernel says the table holds; elements only of sets that no packet changes. */
export type TableContents = {
  /** With the number of their rules. */
  readonly chains: ReadonlyMap<string, number>;
  readonly elements: ReadonlyMap<string, readonly Element[]>;
};

/** Whether all used chains are as they were written; of elements only fingerprints are compared. */
export function isAllThere(uses: Uses, contents: TableContents | undefined): boolean {
  if (contents === undefined) return false;
  const isWritten = writtenIn(contents);
  return (
    isWritten(layoutFingerprint) &&
    [...uses.chains].every(
      ([name, { fingerprint, rules }]) =>
        isWritten(fingerprint) && contents.chains.get(name) === rules,
    )
  );
}

/** Whether it is the table of this program, and of this version of its layout. */
export function isOwnTable(contents: TableContents): boolean {
  return writtenIn(contents)(layoutFingerprint);
}

function writtenIn(contents: TableContents | undefined): (fingerprint: Entry) => boolean {
  const fingerprints = new Set(contents?.elements.get(writtenRules.name)?.map(keyText));
  return ({ element }) => fingerprints.has(keyText(element));
}

/** Fragments that were, those that take their place, and the uses that both are part of. */
export function diffFragments(
  before: readonly Fragment[],
  after: readonly Fragment[],
  uses: Uses,
): Difference {
  const elements = createElementDifference();
  const chains = createChainDifference(uses, elements);
  for (const { entries } of before)
    for (const entry of entries) leaveElement(entry, uses, elements);
  for (const fragment of before) fragment.chains.forEach(chains.release);
  for (const { entries } of after) for (const entry of entries) takeElement(entry, uses, elements);
  for (const fragment of after) fragment.chains.forEach(chains.take);
  return assemble({ newSets: [], elements, ...chains.written(), staleChains: chains.unused() });
}

/**
 * Everything that must be there, against everything that is. Contents of another layout, or none: the table is made anew. Fragments
 * are taken one by one: all of them at once would be most of the proxy's memory.
 */
export function diffTable(
  contents: TableContents | undefined,
  fragments: Iterable<Fragment>,
  uses: Uses,
): Difference {
  const elements = createElementDifference();
  const isWritten = writtenIn(contents);
  const isKnown = contents !== undefined && isWritten(layoutFingerprint);
  const found = isKnown ? contents : nothing;
  for (const set of ownSets) {
    for (const element of found.elements.get(set.name) ?? []) elements.leave({ set, element });
  }
  elements.take(layoutFingerprint);
  const chains = createChainDifference(uses, elements);
  for (const fragment of fragments) {
    for (const entry of fragment.entries) takeElement(entry, uses, elements);
    fragment.chains.forEach(chains.take);
  }
  const wanted = chains
    .written()
    .fresh.filter(
      (one) =>
        found.chains.get(one.chain.name) !== one.rules.length || !isWritten(chainFingerprint(one)),
    );
  // Before there is a table, nothing leads anywhere; a chain with rules may be in use, and changes with all the rest.
  const isPrepared = ({ chain }: ChainRules): boolean => isKnown && !found.chains.get(chain.name);
  const difference = assemble({
    newSets: isKnown ? [] : fixedSets,
    fresh: wanted.filter(isPrepared),
    changed: wanted.filter((one) => !isPrepared(one)),
    staleChains: [...found.chains.keys()].filter((name) => !uses.chains.has(name)),
    elements,
  });
  if (isKnown) return difference;
  const renew: readonly Operation[] =
    contents === undefined
      ? [{ kind: 'add-table' }]
      : [{ kind: 'delete-table' }, { kind: 'add-table' }];
  return { ...difference, operations: [...renew, ...difference.operations] };
}

const nothing: TableContents = { chains: new Map(), elements: new Map() };

type Parts = WrittenChains & {
  readonly newSets: readonly NftSet[];
  readonly staleChains: readonly string[];
  readonly elements: ElementDifference;
};

/** Chains that are referred to come first, then what refers to them; chains without references are flushed last. */
function assemble({ newSets, fresh, changed, staleChains, elements }: Parts): Difference {
  const operations: readonly Operation[] = [
    ...newSets.map((set) => ({ kind: 'add-set', set }) as const),
    ...writeChains(changed),
    ...elements.operations(),
    ...staleChains.map((chain) => ({ kind: 'flush-chain', chain }) as const),
  ];
  const chains = fresh.length + changed.length + staleChains.length;
  const changes = newSets.length + chains + elements.changes();
  return { preparation: writeChains(fresh), operations, staleChains, changes };
}

/** All chains before any rule: rules lead from one to another. */
function writeChains(written: readonly ChainRules[]): readonly Operation[] {
  return [
    ...written.map(({ chain }) => ({ kind: 'add-chain', chain }) as const),
    ...written.flatMap(({ chain: { name }, rules }) => [
      { kind: 'flush-chain', chain: name } as const,
      ...rules.map(
        (statements) => ({ kind: 'add-rule', rule: { chain: name, statements } }) as const,
      ),
    ]),
  ];
}
