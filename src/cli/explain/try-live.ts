// Tries what a trace explains, says so before, and returns what became of it beside the plan.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Session } from '../../flags/client-flags.ts';
import type { World } from '../../flags/command.ts';
import { readRunning, type UpState } from '../../flags/state-file.ts';
import type { SnapshotIndex } from '../../snapshot/index-snapshot.ts';
import { compareLive } from '../../trace/live/compare-live.ts';
import type { LiveTrace } from '../../trace/live/live.ts';
import { runInPod } from '../../trace/live/run-in-pod.ts';
import { type LivePlan, runLive } from '../../trace/live/run-live.ts';
import { openLiveSite } from './open-live-site.ts';
import { withProgress } from './progress.ts';

export type LiveOptions = {
  readonly session: Session;
  readonly world: World;
  readonly index: SnapshotIndex;
  readonly up: UpState | undefined;
};

/** The `up` on this machine that serves the cluster of the session, by its data directory. */
export function runningUp(
  { connection }: Pick<Session, 'connection'>,
  dataDir: string,
  { cwd }: Pick<World, 'cwd'>,
): UpState | undefined {
  const directory = resolve(cwd(), dataDir);
  if (!existsSync(join(directory, 'up.json'))) return undefined;
  const state = readRunning(directory);
  return state !== undefined && isSameServer(state.url, connection.server) ? state : undefined;
}

function isSameServer(one: string, other: string): boolean {
  return URL.canParse(one) && URL.canParse(other) && new URL(one).host === new URL(other).host;
}

/** The state says for people in which families it works, too. */
export function modeOf({ nodes: [node] }: UpState): string | undefined {
  return node?.proxy.split(' ', 1)[0];
}

export async function tryLive(plan: LivePlan, options: LiveOptions): Promise<LiveTrace> {
  const { world } = options;
  const { site, close } = openLiveSite(plan.trace.source, options);
  world.interrupted.addEventListener('abort', close, { once: true });
  try {
    // For people: what a program reads from standard error is one sentence, when it fails.
    if (world.terminal !== undefined) world.writeError(`${announcement(plan, site.sentence)}\n`);
    const trying = site.kind === 'pod' ? runInPod(plan, site) : runLive(plan, site);
    return compareLive(plan.trace, await withProgress(world, 'Trying it', trying));
  } finally {
    world.interrupted.removeEventListener('abort', close);
    close();
  }
}

function announcement({ trace, limits }: LivePlan, sentence: string): string {
  const { name, target } = trace;
  const queries = name === undefined ? '' : `DNS queries for ${name.name} and `;
  const { count, timeoutMs } = limits;
  const connections = count === 1 ? 'one connection' : `${count} connections`;
  return `Trying ${target.text} ${sentence}: ${queries}${connections} to each address, at most ${timeoutMs / 1000} s for each step.`;
}
