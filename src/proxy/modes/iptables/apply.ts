// Writes the rules: all of them at first and after failures, later only those that a change concerns.
import { CommandError } from '../../../host/exec.ts';
import type { Log } from '../../../observe/log.ts';
import type { Family, ProxyState } from '../../model/state.ts';
import type { ModeOptions, PacketCounts, RunningMode, SyncReport } from '../mode.ts';
import { openPrograms, type Programs } from './apply-programs.ts';
import { allowLoopbackRoutes, isConntrackLiberal } from './apply-sysctl.ts';
import { type Changes, diffChains, diffForeign, keepReferenced, ownChains } from './diff.ts';
import { contextOf, type Settings } from './layout.ts';
import { chainNames } from './names.ts';
import { countLoopback, dropInvalid } from './node-rules.ts';
import { canCompareEnds } from './probe.ts';
import { isReached, isWhole, readWatched } from './read-intact.ts';
import { blockBytesOf, render } from './render.ts';
import { renderRule } from './render-rule.ts';
import { openRuleBook, type RuleBook, type WrittenRules } from './rule-book.ts';
import type { Rule, Table } from './rules.ts';
import { type SavedRules, splitCount } from './saved-rules.ts';
import { readSettings } from './settings.ts';

export async function startIptables({
  family,
  log,
  settings: flags,
}: ModeOptions): Promise<RunningMode> {
  const flagSettings = readSettings(flags);
  const programs = await openPrograms({ family, ...flagSettings });
  const settings: Settings = {
    answersOnLoopback: flagSettings.answersOnLoopback,
    dropsInvalid: !isConntrackLiberal(flagSettings.namespacePath),
    canCompareEnds: await canCompareEnds(programs, family),
  };
  log.info('Using iptables', { family, version: programs.version, ...settings });
  let written: WrittenRules | undefined;
  let last: ProxyState | undefined;
  let isVerified = false;
  const fullChanges = async (state: ProxyState): Promise<Changes & { readonly book: RuleBook }> => {
    const book = openRuleBook(state, settings);
    const saved = await readSaved(programs, log);
    return {
      ...keepReferenced(diffChains(ownChains(saved), book.chains), saved),
      foreign: diffForeign(saved, book.foreign, family),
      book,
    };
  };
  return {
    async sync(state, change) {
      const previous = written;
      // Unknown until the write has succeeded.
      written = undefined;
      last = state;
      if (change.kind === 'ports' && previous?.canFollow(state)) {
        const changes = { ...previous.follow(state, change.keys), foreign: [] };
        const report = await write(programs, changes);
        written = previous;
        return { ...report, isFull: false, rules: written.counts() };
      }
      if (family === 'IPv4' && settings.answersOnLoopback)
        allowLoopbackRoutes(flagSettings.namespacePath);
      const changes = await fullChanges(state);
      const report = await write(programs, changes);
      written = changes.book.keep();
      return { ...report, isFull: true, rules: written.counts() };
    },
    async isIntact() {
      // Nothing was written, or an unknown part: the next write is of everything.
      if (written === undefined || last === undefined) return true;
      const context = contextOf(last, settings);
      if (isVerified) return isReached(await readWatched(programs), context);
      // The first time everything is compared: a program that an earlier run of us started may have outlived it and
      // written after we had looked.
      isVerified = true;
      return isWhole(programs, { context, fingerprint: written.fingerprint(), log });
    },
    packets: () => readPackets(programs, family),
    stop: async () => {},
  };
}

/** Packet counters (IPT-13). A chain that does not exist counts none. */
async function readPackets(programs: Programs, family: Family): Promise<PacketCounts> {
  const count = async (table: Table, chain: string, rule: Rule): Promise<number> => {
    const lines = (await programs.readChain(table, chain, '-v')).get(table)?.get(chain) ?? [];
    const wanted = renderRule(rule, family);
    return lines.map(splitCount).find(({ line }) => line === wanted)?.packets ?? 0;
  };
  return {
    invalidDropped: await count('filter', chainNames.forward, dropInvalid),
    loopbackAccepted: await count('nat', chainNames.postrouting, countLoopback),
  };
}

/** Where not everything can be read, what leads to us is enough: all chains are written anew, old ones stay. */
async function readSaved(programs: Programs, log: Log): Promise<SavedRules> {
  try {
    return await programs.readAll();
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    log.warn('Failed to read rules, writing all of them', { error: error.message });
    return readWatched(programs);
  }
}

async function write(
  programs: Programs,
  changes: Changes,
): Promise<Pick<SyncReport, 'changes' | 'bytes' | 'written'>> {
  const blocks = render(changes, { blockBytes: blockBytesOf[programs.variant] });
  const { bytes } = await programs.write(blocks);
  return { bytes, changes: countChanges(changes), written: countWritten(changes) };
}

function countChanges({ write, remove, foreign }: Changes): number {
  const lines = write.reduce((sum, chain) => sum + Math.max(chain.lines.length, 1), 0);
  return lines + remove.length + foreign.length;
}

function countWritten(changes: Changes): Readonly<Record<Table, number>> {
  const written = { mangle: 0, filter: 0, nat: 0 };
  for (const { table, lines } of changes.write) written[table] += lines.length;
  return written;
}
