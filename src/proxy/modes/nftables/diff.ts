// From what the table holds to what it must hold, as the steps of one transaction. Two ways to the same end: from the fragments before
// and after where only some changed, and from what the kernel says it holds.
import type { Element, NftSet, Operation } from '../../../host/nftables/objects.ts';
import { chainFingerprint, layoutFingerprint } from './fingerprint.ts';
import { type Entry, type Fragment, isSharedSet } from './fragment.ts';
import { fixedSets, ownSets, writtenRules } from './layout.ts';
import type { ChainRules } from './rules.ts';

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

/** Who is used by how many fragments. Grows and shrinks with every difference that is made from it. */
export type Uses = {
  readonly chains: Map<string, ChainUse>;
  readonly elements: Map<string, number>;
};

export type ChainUse = {
  count: number;
  readonly fingerprint: Entry;
  readonly rules: number;
};

/** What the kernel says the table holds; elements only of sets that no packet changes. */
export type TableContents = {
  /** With the number of their rules. */
  readonly chains: ReadonlyMap<string, number>;
  readonly elements: ReadonlyMap<string, readonly Element[]>;
};

export function createUses(): Uses {
  return { chains: new Map(), elements: new Map() };
}

/** Whether all that is used stands as it was written; elements beside the fingerprints are not looked at. */
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
  for (const fragment of before) fragment.chains.forEach(chains.leave);
  for (const { entries } of after) for (const entry of entries) takeElement(entry, uses, elements);
  for (const fragment of after) fragment.chains.forEach(chains.take);
  return assemble({ newSets: [], elements, ...chains.written(), staleChains: chains.left() });
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
    .filter(
      (one) =>
        found.chains.get(one.chain.name) !== one.rules.length || !isWritten(chainFingerprint(one)),
    );
  const difference = assemble({
    newSets: isKnown ? [] : fixedSets,
    written: wanted,
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

type ElementDifference = {
  readonly take: (entry: Entry) => void;
  readonly leave: (entry: Entry) => void;
  readonly operations: () => readonly Operation[];
  readonly changes: () => number;
};

type SetDifference = {
  readonly set: NftSet;
  readonly gone: Map<string, Element>;
  readonly come: Map<string, Element>;
};

/** What was left is taken back where it is wanted again as it was. */
function createElementDifference(): ElementDifference {
  const bySet = new Map<string, SetDifference>();
  const of = (set: NftSet): SetDifference => {
    const found = bySet.get(set.name) ?? { set, gone: new Map(), come: new Map() };
    bySet.set(set.name, found);
    return found;
  };
  return {
    leave: ({ set, element }) => void of(set).gone.set(keyText(element), element),
    take: ({ set, element }) => {
      const { gone, come } = of(set);
      const key = keyText(element);
      const before = gone.get(key);
      if (before !== undefined && dataText(before) === dataText(element)) gone.delete(key);
      else come.set(key, element);
    },
    operations: () => [...bySet.values()].flatMap(setOperations),
    changes: () => sum([...bySet.values()].map(({ gone, come }) => gone.size + come.size)),
  };
}

/** Side by side, so that no packet looks into the kernel's table between an element's end and its successor. */
function setOperations({ set, gone, come }: SetDifference): readonly Operation[] {
  const remove = { kind: 'delete-elements', set, elements: [...gone.values()] } as const;
  const add = { kind: 'add-elements', set, elements: [...come.values()] } as const;
  return [remove, add].filter(({ elements }) => elements.length > 0);
}

function leaveElement(entry: Entry, uses: Uses, elements: ElementDifference): void {
  if (!isSharedSet(entry.set)) {
    elements.leave(entry);
    return;
  }
  const key = `${entry.set.name} ${keyText(entry.element)}`;
  const left = (uses.elements.get(key) ?? 0) - 1;
  if (left > 0) {
    uses.elements.set(key, left);
    return;
  }
  uses.elements.delete(key);
  elements.leave(entry);
}

function takeElement(entry: Entry, uses: Uses, elements: ElementDifference): void {
  if (!isSharedSet(entry.set)) {
    elements.take(entry);
    return;
  }
  const key = `${entry.set.name} ${keyText(entry.element)}`;
  const count = uses.elements.get(key) ?? 0;
  uses.elements.set(key, count + 1);
  if (count === 0) elements.take(entry);
}

type WrittenChains = {
  /** Those that nobody used before. */
  readonly fresh: readonly ChainRules[];
  /** Those that have other rules than before. */
  readonly changed: readonly ChainRules[];
};

type ChainDifference = {
  readonly take: (chain: ChainRules) => void;
  readonly leave: (chain: ChainRules) => void;
  readonly written: () => WrittenChains;
  /** Those that nobody wants any more. */
  readonly left: () => readonly string[];
};

/** All that is left is left before anything is taken. Fingerprints come and go with the chains. */
function createChainDifference(uses: Uses, elements: ElementDifference): ChainDifference {
  const left = new Map<string, Entry>();
  const fresh: ChainRules[] = [];
  const changed: ChainRules[] = [];
  return {
    leave: ({ chain: { name } }) => {
      const use = uses.chains.get(name);
      if (use === undefined) return;
      use.count -= 1;
      if (use.count > 0) return;
      uses.chains.delete(name);
      left.set(name, use.fingerprint);
      elements.leave(use.fingerprint);
    },
    take: (one) => {
      const { name } = one.chain;
      const use = uses.chains.get(name);
      if (use !== undefined) {
        use.count += 1;
        return;
      }
      const fingerprint = chainFingerprint(one);
      uses.chains.set(name, { count: 1, fingerprint, rules: one.rules.length });
      elements.take(fingerprint);
      const before = left.get(name);
      left.delete(name);
      if (before === undefined) fresh.push(one);
      else if (keyText(before.element) !== keyText(fingerprint.element)) changed.push(one);
    },
    written: () => ({ fresh, changed }),
    left: () => [...left.keys()],
  };
}

type Parts = WrittenChains & {
  readonly newSets: readonly NftSet[];
  readonly staleChains: readonly string[];
  readonly elements: ElementDifference;
};

/** What is referred to comes first, what refers to it second; what nobody refers to any more is emptied last. */
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

function keyText({ key }: Element): string {
  return key.join(' ');
}

function dataText({ data }: Element): string {
  if (data === undefined) return '';
  if (!('kind' in data)) return data.join(' ');
  return 'chain' in data ? `${data.kind} ${data.chain}` : data.kind;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
