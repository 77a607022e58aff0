// Checks whether the rules are as they were written: each time the chains that show a flush, and the first time all chains.
import { CommandError } from '../../../host/exec.ts';
import type { Log } from '../../../observe/log.ts';
import type { Programs } from './apply-programs.ts';
import { foreignRules } from './desired.ts';
import { diffForeign } from './diff.ts';
import { createSurvey } from './fingerprint.ts';
import type { RuleContext } from './layout.ts';
import { chainNames } from './names.ts';
import type { Table } from './rules.ts';
import type { SavedRules } from './saved-rules.ts';

/** Chains that show whether another program flushed a table or removed the jumps to our chains (IPT-12). */
const watched: readonly (readonly [Table, string])[] = [
  ['mangle', chainNames.canary],
  ['nat', chainNames.canary],
  ['filter', chainNames.canary],
  ['nat', 'PREROUTING'],
  ['nat', 'OUTPUT'],
  ['nat', 'POSTROUTING'],
  ['filter', 'INPUT'],
  ['filter', 'FORWARD'],
  ['filter', 'OUTPUT'],
  ['filter', chainNames.firewall],
];

/** Whether these have the jumps to our chains. */
export function isReached(saved: SavedRules, context: RuleContext): boolean {
  const tables = [...new Set(watched.map(([table]) => table))];
  if (!tables.every((table) => saved.get(table)?.has(chainNames.canary))) return false;
  return diffForeign(saved, foreignRules(context), context.node.family).length === 0;
}

export async function readWatched(programs: Programs): Promise<SavedRules> {
  const saved = new Map<Table, Map<string, readonly string[]>>();
  for (const [table, chain] of watched) {
    const lines = (await programs.readChain(table, chain)).get(table)?.get(chain);
    const chains = saved.get(table) ?? new Map<string, readonly string[]>();
    if (lines !== undefined) chains.set(chain, lines);
    saved.set(table, chains);
  }
  return saved;
}

export type Written = {
  readonly context: RuleContext;
  readonly fingerprint: number;
  readonly log: Log;
};

/** Whether all rules are as written. They are compared as a stream, because together they are large. */
export async function isWhole(
  programs: Programs,
  { context, fingerprint, log }: Written,
): Promise<boolean> {
  const survey = createSurvey();
  try {
    await programs.readEach(survey.take);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    log.warn('Failed to read rules, writing all of them', { error: error.message });
    return false;
  }
  return survey.fingerprint() === fingerprint && isReached(survey.rest(), context);
}
