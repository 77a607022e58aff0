// The rules in a network as text that two networks can be compared by.
import { execFileSync } from 'node:child_process';

type Run = (program: string, ...args: readonly string[]) => string;

export const runHere: Run = (program, ...args) =>
  execFileSync(program, args, { encoding: 'utf8', maxBuffer: 2 ** 28 });

/** In one order, without counters and without chains that are empty and wait for their removal. */
export function rulesOf(mode: string, run: Run): readonly string[] {
  if (mode === 'iptables') {
    return run('iptables-save')
      .split('\n')
      .filter((line) => line.startsWith('-A') || line.startsWith('*'))
      .map((line) => line.replace(/\[\d+:\d+\]/, ''))
      .sort();
  }
  const text = run('nft', '-s', 'list', 'ruleset').replace(/\t*chain \S+ \{\n\t*\}\n/g, '');
  // Maps and sets are listed in the order of their hashes.
  return text
    .split(/[,\n]/)
    .map((part) => part.replace(/^\s*elements = \{|\}/g, '').trim())
    .sort();
}

/** Looks until both are the same; then none, or else what differs. */
export async function differences(
  left: () => readonly string[],
  right: () => readonly string[],
  pause: () => Promise<void>,
): Promise<readonly string[]> {
  for (let tries = 0; ; tries += 1) {
    const [a, b] = [left(), right()];
    if (a.join('\n') === b.join('\n')) return [];
    if (tries === mostTries) {
      return [
        ...a.filter((line) => !b.includes(line)).map((line) => `< ${line}`),
        ...b.filter((line) => !a.includes(line)).map((line) => `> ${line}`),
      ];
    }
    await pause();
  }
}

const mostTries = 20;
