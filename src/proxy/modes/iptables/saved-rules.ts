// What iptables-save and `iptables -S` print, as chains of lines.
import type { Table } from './rules.ts';

/** Table → chain → what stands after `-A CHAIN`, in order. Built-in chains and those of others too. */
export type SavedRules = ReadonlyMap<Table, ReadonlyMap<string, readonly string[]>>;

const tables: ReadonlySet<string> = new Set<Table>(['mangle', 'filter', 'nat']);

export type SavedChain = {
  readonly table: Table;
  readonly name: string;
  readonly lines: readonly string[];
};

export type SavedReader = {
  /** The next part of the text, which may end anywhere. */
  readonly read: (part: string) => void;
  readonly end: () => void;
};

/**
 * Reads what iptables-save prints while it prints it. Tells of a chain without lines when it is declared, and again when all its lines
 * are known: they come together. Tables that are none of ours are left out.
 */
export function createSavedReader(take: (chain: SavedChain) => void): SavedReader {
  let table: Table | undefined;
  let current: (SavedChain & { readonly lines: string[] }) | undefined;
  let unfinished = '';
  const finish = (): void => {
    if (current !== undefined) take(current);
    current = undefined;
  };
  const readTable = (name: string): void => {
    finish();
    table = isTable(name) ? name : undefined;
  };
  const readRule = (table: Table, name: string, rule: string): void => {
    if (current?.name !== name) {
      finish();
      current = { table, name, lines: [] };
    }
    current.lines.push(rule);
  };
  const readLine = (line: string): void => {
    if (line.startsWith('*')) readTable(line.slice(1));
    const found = table === undefined ? undefined : parseLine(line);
    if (table === undefined || found === undefined) return;
    if (found.rule === undefined) take({ table, name: found.chain, lines: [] });
    else readRule(table, found.chain, found.rule);
  };
  return {
    read(part) {
      const lines = (unfinished + part).split('\n');
      unfinished = lines.pop() ?? '';
      for (const line of lines) readLine(line);
    },
    end() {
      readLine(unfinished);
      finish();
    },
  };
}

export function parseSaved(text: string): SavedRules {
  const saved = new Map<Table, Map<string, readonly string[]>>();
  const reader = createSavedReader(({ table, name, lines }) => {
    const chains = saved.get(table) ?? new Map<string, readonly string[]>();
    chains.set(name, [...(chains.get(name) ?? []), ...lines]);
    saved.set(table, chains);
  });
  reader.read(text);
  reader.end();
  return saved;
}

/** What `iptables -t TABLE -S CHAIN` prints. */
export function parseListed(table: Table, text: string): SavedRules {
  const chains = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const found = parseLine(line);
    if (found === undefined) continue;
    const lines = chains.get(found.chain) ?? [];
    if (found.rule !== undefined) lines.push(found.rule);
    chains.set(found.chain, lines);
  }
  return new Map([[table, chains]]);
}

/** A chain, and the rule that is added to it; without one the line only says that the chain is there. */
function parseLine(line: string): { readonly chain: string; readonly rule?: string } | undefined {
  if (line.startsWith('-A ')) {
    const end = line.indexOf(' ', 3);
    return end === -1
      ? { chain: line.slice(3), rule: '' }
      : { chain: line.slice(3, end), rule: line.slice(end + 1) };
  }
  if (line.startsWith(':')) return { chain: line.slice(1).split(' ')[0] ?? '' };
  if (line.startsWith('-N ') || line.startsWith('-P ')) return { chain: line.split(' ')[1] ?? '' };
  return undefined;
}

function isTable(name: string): name is Table {
  return tables.has(name);
}

/** The chain that a line leads to, or the name of its target. */
export function targetOf(line: string): string | undefined {
  const unquoted = line.replaceAll(/\\./g, '').replaceAll(/"[^"]*"?/g, '');
  return / ?-[jg] (\S+)/.exec(unquoted)?.[1];
}

/** The kernel keeps a probability in 31 bits, so it comes back with other decimals than it went in with. */
export function canonicalLine(line: string): string {
  if (!line.includes('--probability ')) return line;
  return line.replace(
    /--probability (\S+)/,
    (_, text: string) => `--probability ${Math.round(Number(text) * 2 ** 31)}`,
  );
}

/** How many packets a line has seen, as `iptables -v -S` prints it, and the line without that. */
export function splitCount(line: string): { readonly line: string; readonly packets: number } {
  const packets = Number(/ -c (\d+) \d+/.exec(line)?.[1] ?? 0);
  return { line: line.replace(/ -c \d+ \d+/, ''), packets };
}
