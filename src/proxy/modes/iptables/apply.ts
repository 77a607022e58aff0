// Brings the kernel's rules to the state: everything at first and after trouble, later only what a change touches.
import type { ProxyState } from '../../state.ts';
import type { ModeOptions, RunningMode, SyncReport } from '../mode.ts';
import { openPrograms, type Programs } from './apply-programs.ts';
import { allowLoopbackRoutes, isConntrackLiberal } from './apply-sysctl.ts';
import { foreignRules } from './desired.ts';
import { type Changes, diffChains, diffForeign, keepReferenced, ownChains } from './diff.ts';
import { contextOf, type Settings } from './layout.ts';
import { chainNames } from './names.ts';
import { canCompareEnds } from './probe.ts';
import { blockBytesOf, render } from './render.ts';
import { type KeptRules, openRuleBook } from './rule-book.ts';
import type { Table } from './rules.ts';
import { readSettings } from './settings.ts';

export async function startIptables({
  family,
  log,
  settings: flags,
}: ModeOptions): Promise<RunningMode> {
  const given = readSettings(flags);
  const programs = await openPrograms({ family, ...given });
  const settings: Settings = {
    answersOnLoopback: given.answersOnLoopback,
    dropsInvalid: !isConntrackLiberal(given.namespacePath),
    canCompareEnds: await canCompareEnds(programs, family),
  };
  log.info('using iptables', { family, version: programs.version, ...settings });
  let kept: KeptRules | undefined;
  let last: ProxyState | undefined;
  return {
    async sync(state, change) {
      const follows = kept;
      // Until the write has succeeded nobody knows what the kernel holds.
      kept = undefined;
      last = state;
      if (change.kind === 'ports' && follows?.canFollow(state)) {
        const changes = { ...follows.follow(state, change.keys), foreign: [] };
        const report = await write(programs, changes);
        kept = follows;
        return { ...report, isFull: false };
      }
      if (family === 'IPv4' && settings.answersOnLoopback) allowLoopbackRoutes(given.namespacePath);
      const book = openRuleBook(state, settings);
      const saved = await programs.readAll();
      const changes: Changes = {
        ...keepReferenced(diffChains(ownChains(saved), book.chains), saved),
        foreign: diffForeign(saved, book.foreign, family),
      };
      const report = await write(programs, changes);
      kept = book.keep();
      return { ...report, isFull: true };
    },
    isIntact: async () => last === undefined || isIntact(programs, last, settings),
    stop: async () => {},
  };
}

async function write(programs: Programs, changes: Changes): Promise<Omit<SyncReport, 'isFull'>> {
  const blocks = render(changes, { blockBytes: blockBytesOf[programs.variant] });
  await programs.write(blocks);
  return {
    changes:
      changes.write.reduce((sum, { lines }) => sum + lines.length, 0) +
      changes.remove.length +
      changes.foreign.length,
    bytes: blocks.reduce((sum, block) => sum + block.length, 0),
  };
}

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

async function isIntact(
  programs: Programs,
  state: ProxyState,
  settings: Settings,
): Promise<boolean> {
  const saved = new Map<Table, Map<string, readonly string[]>>();
  for (const [table, chain] of watched) {
    const lines = (await programs.readChain(table, chain)).get(table)?.get(chain);
    if (lines === undefined && chain === chainNames.canary) return false;
    const chains = saved.get(table) ?? new Map<string, readonly string[]>();
    if (lines !== undefined) chains.set(chain, lines);
    saved.set(table, chains);
  }
  const foreign = foreignRules(contextOf(state, settings));
  return diffForeign(saved, foreign, state.node.family).length === 0;
}
