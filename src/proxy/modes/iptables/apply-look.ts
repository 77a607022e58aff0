// Is what was written still there? Every time those chains are looked at that tell of a flush, and the first time all of them.
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

/** Which chains tell whether somebody flushed a table or removed what leads to us (IPT-12). */
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

/** Whether these hold what leads to our rules. */
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

/** Whether all rules are those that were written. They are read while they come and none is kept: together they are large. */
export async function isWhole(
  programs: Programs,
  { context, fingerprint, log }: Written,
): Promise<boolean> {
  const survey = createSurvey();
  try {
    await programs.readEach(survey.take);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    log.warn('rules could not be read, writing all of them', { error: error.message });
    return false;
  }
  return survey.fingerprint() === fingerprint && isReached(survey.rest(), context);
}
