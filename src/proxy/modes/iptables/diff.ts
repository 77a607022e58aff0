// What to change so that the kernel holds what is wanted: chains to write anew or to remove, and lines in others' chains.
import type { Family } from '../../model/state.ts';
import type { ForeignRules } from './desired.ts';
import { isOwnChain } from './names.ts';
import { loopbackGuardComment } from './node-rules.ts';
import { renderRule } from './render-rule.ts';
import type { Chain, ForeignRule, Table } from './rules.ts';
import { canonicalLine, type SavedRules, targetOf } from './saved-rules.ts';

export type ChainName = { readonly table: Table; readonly name: string };
export type TextChain = ChainName & { readonly lines: readonly string[] };
/** By `chainKey`. */
export type ChainMap = ReadonlyMap<string, TextChain>;

export type Changes = {
  readonly write: readonly TextChain[];
  readonly remove: readonly ChainName[];
  readonly foreign: readonly ForeignChange[];
  /** Whether something is refused or dropped that was not before: that must be so before its translation ends. */
  readonly refusesMore: boolean;
};

export type ForeignChange =
  | { readonly kind: 'create'; readonly table: Table; readonly chain: string }
  | {
      readonly kind: 'insert' | 'append' | 'delete';
      readonly table: Table;
      readonly chain: string;
      readonly line: string;
    };

export function chainKey({ table, name }: ChainName): string {
  return `${table} ${name}`;
}

export function toText(chains: Iterable<Chain>, family: Family): ChainMap {
  const texts = new Map<string, TextChain>();
  for (const chain of chains) {
    const lines = chain.rules.map((rule) => renderRule(rule, family));
    texts.set(chainKey(chain), { table: chain.table, name: chain.name, lines });
  }
  return texts;
}

/** Our chains among those that the kernel holds. */
export function ownChains(saved: SavedRules): ChainMap {
  const own = new Map<string, TextChain>();
  for (const [table, chains] of saved) {
    for (const [name, lines] of chains) {
      if (isOwnChain(table, name)) own.set(chainKey({ table, name }), { table, name, lines });
    }
  }
  return own;
}

export function diffChains(before: ChainMap, after: ChainMap): Omit<Changes, 'foreign'> {
  const write = [...after].flatMap(([key, chain]) =>
    isSame(before.get(key)?.lines, chain.lines) ? [] : [chain],
  );
  const remove = [...before].flatMap(([key, chain]) => (after.has(key) ? [] : [chain]));
  const refusesMore = write.some(
    (chain) => chain.table === 'filter' && hasMore(before.get(chainKey(chain)), chain),
  );
  return { write, remove, refusesMore };
}

function isSame(before: readonly string[] | undefined, after: readonly string[]): boolean {
  return (
    before?.length === after.length &&
    after.every((line, i) => {
      const other = before[i] ?? '';
      return line === other || canonicalLine(line) === canonicalLine(other);
    })
  );
}

function hasMore(before: TextChain | undefined, after: TextChain): boolean {
  const known = new Set(before?.lines);
  return after.lines.some((line) => !known.has(line));
}

/** A chain of ours that another program's rule jumps to cannot be removed, only flushed. */
export function keepReferenced(
  changes: Omit<Changes, 'foreign'>,
  saved: SavedRules,
): Omit<Changes, 'foreign'> {
  const referenced = new Set<string>();
  for (const [table, chains] of saved) {
    for (const [chain, lines] of chains) {
      // Our own jumps in built-in chains are brought in order, or removed, by us.
      if (isOwnChain(table, chain) || isBuiltIn(chain)) continue;
      for (const line of lines) referenced.add(`${table} ${targetOf(line)}`);
    }
  }
  const isKept = (chain: ChainName): boolean => referenced.has(chainKey(chain));
  const isFilled = ({ table, name }: ChainName): boolean => linesOf(saved, table, name).length > 0;
  return {
    ...changes,
    write: [
      ...changes.write,
      ...changes.remove
        .filter((chain) => isKept(chain) && isFilled(chain))
        .map(({ table, name }) => ({ table, name, lines: [] })),
    ],
    remove: changes.remove.filter((chain) => !isKept(chain)),
  };
}

const builtInChains = ['PREROUTING', 'INPUT', 'FORWARD', 'OUTPUT', 'POSTROUTING'];

export function isBuiltIn(chain: string): boolean {
  return builtInChains.includes(chain);
}

export function diffForeign(
  saved: SavedRules,
  wanted: ForeignRules,
  family: Family,
): readonly ForeignChange[] {
  const text = ({ table, chain, rule }: ForeignRule): TextLine => ({
    table,
    chain,
    line: renderRule(rule, family),
  });
  return [
    ...diffShared(saved, wanted.shared.map(text), wanted.sharedJumps.map(text)),
    ...diffJumps(saved, wanted.jumps.map(text)),
  ];
}

type TextLine = { readonly table: Table; readonly chain: string; readonly line: string };

/** Ours stand together at the top of each built-in chain, in order; where they do not, they are placed anew. */
function diffJumps(saved: SavedRules, wanted: readonly TextLine[]): readonly ForeignChange[] {
  const changes: ForeignChange[] = [];
  const tables = new Set([...saved.keys(), ...wanted.map(({ table }) => table)]);
  for (const table of tables) {
    for (const chain of builtInChains) {
      const present = linesOf(saved, table, chain).filter((line) => {
        const target = targetOf(line);
        return target !== undefined && isOwnChain(table, target);
      });
      const here = wanted.filter((each) => each.table === table && each.chain === chain);
      if (
        isSame(
          present,
          here.map(({ line }) => line),
        )
      )
        continue;
      for (const line of present) changes.push({ kind: 'delete', table, chain, line });
      for (const each of here.toReversed()) changes.push({ kind: 'insert', ...each });
    }
  }
  return changes;
}

function diffShared(
  saved: SavedRules,
  wanted: readonly TextLine[],
  jumps: readonly TextLine[],
): readonly ForeignChange[] {
  const added = wanted.flatMap((each): ForeignChange[] => {
    const { table, chain, line } = each;
    const lines = saved.get(table)?.get(chain);
    return [
      ...(lines === undefined ? [{ kind: 'create', table, chain } as const] : []),
      ...(lines?.includes(line) ? [] : [{ kind: 'append', ...each } as const]),
    ];
  });
  const reached = jumps.flatMap((each): ForeignChange[] => {
    const isThere = linesOf(saved, each.table, each.chain).some(
      (line) => targetOf(line) === targetOf(each.line),
    );
    return isThere ? [] : [{ kind: 'insert', ...each }];
  });
  return [...staleShared(saved, [...wanted, ...jumps]), ...added, ...reached];
}

/** Our rules in others' chains that are wanted no longer. */
function staleShared(saved: SavedRules, wanted: readonly TextLine[]): readonly ForeignChange[] {
  const table = 'filter';
  return [...(saved.get(table) ?? [])].flatMap(([chain, lines]) =>
    lines
      .filter((line) => line.includes(`"${loopbackGuardComment}"`))
      .filter((line) => !wanted.some((each) => each.chain === chain && each.line === line))
      .map((line) => ({ kind: 'delete', table, chain, line }) as const),
  );
}

function linesOf(saved: SavedRules, table: Table, chain: string): readonly string[] {
  return saved.get(table)?.get(chain) ?? [];
}
