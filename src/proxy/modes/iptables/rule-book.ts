// What was written last, so that a change needs no look at the kernel: old rules are made again from the old service
// ports, which costs less than to keep the text of a hundred thousand rules.
import type { ProxyState, ServicePort } from '../../model/state.ts';
import { type Desired, desiredRules } from './desired.ts';
import { type ChainMap, type Changes, diffChains, toText } from './diff.ts';
import type { DispatchEntry } from './dispatch.ts';
import { createFingerprint, type Fingerprint } from './fingerprint.ts';
import { contextOf, isSameLayout, type Settings } from './layout.ts';
import { portChains, portEntries } from './port-rules.ts';
import type { Chain, Table } from './rules.ts';

export type RuleCounts = Readonly<Record<Table, number>>;

export type RuleBook = {
  /** The chains to hold, of all services. */
  readonly chains: ChainMap;
  readonly foreign: Desired['foreign'];
  readonly keep: () => WrittenRules;
};

export type WrittenRules = {
  /** How many rules of ours each table has. */
  readonly counts: () => RuleCounts;
  /** Of all chains of ours. */
  readonly fingerprint: () => number;
  /** Whether a change of some ports is enough to get to the state. */
  readonly canFollow: (state: ProxyState) => boolean;
  /** What these ports change, taken as written from now on. */
  readonly follow: (state: ProxyState, keys: ReadonlySet<string>) => Omit<Changes, 'foreign'>;
};

export function openRuleBook(state: ProxyState, settings: Settings): RuleBook {
  const desired = desiredRules(state, settings);
  const chains = toText(desired.chains, state.node.family);
  const counts = countRules(chains);
  const fingerprint = createFingerprint();
  fingerprint.add(chains.values());
  return {
    chains,
    foreign: desired.foreign,
    keep: () => keepRules(state, settings, { ...desired, counts, fingerprint }),
  };
}

type Written = Desired & { readonly counts: RuleCounts; readonly fingerprint: Fingerprint };

function keepRules(
  state: ProxyState,
  settings: Settings,
  { context, dispatch, fingerprint, ...written }: Written,
): WrittenRules {
  let { counts } = written;
  const { family } = state.node;
  const ports = new Map(state.ports);
  const chainsOf = (some: readonly ServicePort[]): readonly Chain[] =>
    some.flatMap((port) => portChains(port, context));
  const entriesOf = (some: readonly ServicePort[]): readonly DispatchEntry[] =>
    some.flatMap((port) => portEntries(port, context));
  return {
    counts: () => counts,
    fingerprint: fingerprint.value,
    canFollow: (next) => isSameLayout(context.layout, contextOf(next, settings).layout),
    follow(next, keys) {
      const changed = [...keys].filter((key) => ports.get(key) !== next.ports.get(key));
      const before = changed.flatMap((key) => ports.get(key) ?? []);
      const after = changed.flatMap((key) => next.ports.get(key) ?? []);
      for (const { key } of before) ports.delete(key);
      for (const port of after) ports.set(port.key, port);
      const removed = entriesOf(before);
      const added = entriesOf(after);
      const touched = [...removed, ...added];
      const textBefore = toText([...chainsOf(before), ...dispatch.chainsOf(touched)], family);
      dispatch.remove(removed);
      dispatch.add(added);
      const textAfter = toText([...chainsOf(after), ...dispatch.chainsOf(touched)], family);
      counts = addCounts(counts, countRules(textAfter), countRules(textBefore));
      fingerprint.remove(textBefore.values());
      fingerprint.add(textAfter.values());
      return diffChains(textBefore, textAfter);
    },
  };
}

function countRules(chains: ChainMap): RuleCounts {
  const counts = { mangle: 0, filter: 0, nat: 0 };
  for (const { table, lines } of chains.values()) counts[table] += lines.length;
  return counts;
}

function addCounts(counts: RuleCounts, added: RuleCounts, removed: RuleCounts): RuleCounts {
  const sum = (table: Table): number => counts[table] + added[table] - removed[table];
  return { mangle: sum('mangle'), filter: sum('filter'), nat: sum('nat') };
}
