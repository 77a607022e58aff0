// What iptables-save and `iptables -S` print, as chains of lines.
import type { Table } from './rules.ts';

/** Table → chain → what stands after `-A CHAIN`, in order. Built-in chains and those of others too. */
export type SavedRules = ReadonlyMap<Table, ReadonlyMap<string, readonly string[]>>;

const tables: ReadonlySet<string> = new Set<Table>(['mangle', 'filter', 'nat']);

/** Tables that are none of ours are left out. */
export function parseSaved(text: string): SavedRules {
  const saved = new Map<Table, Map<string, string[]>>();
  let chains: Map<string, string[]> | undefined;
  for (const line of text.split('\n')) {
    if (line.startsWith('*')) {
      chains = new Map();
      const table = line.slice(1);
      if (isTable(table)) saved.set(table, chains);
    } else if (chains !== undefined) {
      readLine(line, chains);
    }
  }
  return saved;
}

/** What `iptables -t TABLE -S CHAIN` prints. */
export function parseListed(table: Table, text: string): SavedRules {
  const chains = new Map<string, string[]>();
  for (const line of text.split('\n')) readLine(line, chains);
  return new Map([[table, chains]]);
}

function readLine(line: string, chains: Map<string, string[]>): void {
  if (line.startsWith('-A ')) {
    const end = line.indexOf(' ', 3);
    const name = end === -1 ? line.slice(3) : line.slice(3, end);
    chainOf(name, chains).push(end === -1 ? '' : line.slice(end + 1));
  } else if (line.startsWith(':') || line.startsWith('-N ') || line.startsWith('-P ')) {
    chainOf(line.split(' ')[line.startsWith(':') ? 0 : 1]?.replace(/^:/, '') ?? '', chains);
  }
}

function chainOf(name: string, chains: Map<string, string[]>): string[] {
  const lines = chains.get(name) ?? [];
  chains.set(name, lines);
  return lines;
}

function isTable(name: string): name is Table {
  return tables.has(name);
}

/** The chain that a line leads to, or the name of its target. */
export function targetOf(line: string): string | undefined {
  return / ?-[jg] (\S+)/.exec(line.replaceAll(/"(?:[^"\\]|\\.)*"/g, ''))?.[1];
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
