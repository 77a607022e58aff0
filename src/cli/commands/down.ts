// Stops what `up` runs, from another terminal.
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Option } from 'commander';
import {
  type CommandDefinition,
  FailedError,
  UsageError,
  type World,
} from '../../flags/command.ts';
import { duration, formatDuration } from '../../flags/parse-values.ts';
import { isOwnProcess, readRunning, removeState } from '../../flags/state-file.ts';
import { sleep, systemClock } from '../../host/clock.ts';
import { removeCgroups } from '../../node/runtimes/process/apply-cgroups.ts';
import { addDataDirFlag, type DataDirFlag } from '../../up/data-dir-flag.ts';
import { findUp } from '../../up/find-up.ts';
import { createProgress } from '../../up/terminal.ts';

type Flags = DataDirFlag & {
  readonly purge?: true;
  /** In milliseconds. */
  readonly timeout: number;
};

/** Shutdown waits for the pods, each for at most its grace period; more means that something hangs. */
const defaultTimeoutMs = 120_000;

export const down: CommandDefinition = {
  configure(command, world) {
    addDataDirFlag(command)
      .option('--purge', 'Also removes all data: objects, certificates and logs')
      .addOption(
        new Option(
          '--timeout <time>',
          'Time to wait for an orderly shutdown before everything is killed',
        )
          .argParser(duration())
          .default(defaultTimeoutMs, formatDuration(defaultTimeoutMs)),
      )
      .action(async (flags: Flags) => run(flags, world));
  },
};

async function run({ dataDir, purge, timeout }: Flags, world: World): Promise<void> {
  const directory = resolve(world.cwd(), dataDir);
  // An `up` that is still starting, or hangs, has not written its state yet.
  const pid = readRunning(directory)?.pid ?? findUp(directory);
  if (pid === undefined && purge !== true) {
    throw new FailedError(`Nothing runs with the data in "${dataDir}".`);
  }
  if (pid !== undefined) await end(pid, directory, { timeout, world });
  if (purge === true) await removeData(directory, dataDir, world);
}

async function end(
  pid: number,
  directory: string,
  { timeout, world }: { readonly timeout: number; readonly world: World },
): Promise<void> {
  process.kill(pid, 'SIGTERM');
  const progress = createProgress(world);
  const text = `waiting for process ${pid} to end`;
  if (await progress(text, hasEnded(pid, timeout, world))) {
    world.write(`Ended process ${pid}.\n`);
    return;
  }
  process.kill(pid, 'SIGKILL');
  if (!(await progress(text, hasEnded(pid, killTimeoutMs, world)))) {
    throw new FailedError(`Process ${pid} does not end, not even by SIGKILL.`);
  }
  removeState(directory);
  world.write(`Killed process ${pid}: it did not end within ${formatDuration(timeout)}.\n`);
}

/** A killed process takes the kernel a moment to remove. */
const killTimeoutMs = 10_000;
const checkIntervalMs = 50;

/** False on timeout. */
async function hasEnded(pid: number, timeoutMs: number, { interrupted }: World): Promise<boolean> {
  const deadline = systemClock.now() + timeoutMs;
  while (isOwnProcess(pid)) {
    if (interrupted.aborted) throw new FailedError(`Process ${pid} is still ending.`);
    if (systemClock.now() > deadline) return false;
    await sleep(systemClock, checkIntervalMs, interrupted);
  }
  return true;
}

/** The marks of a data directory: --purge never removes another directory because of a wrong flag. */
const marks = ['store', 'pki'];

async function removeData(directory: string, shown: string, world: World): Promise<void> {
  if (!existsSync(directory)) return;
  if (!marks.every((name) => existsSync(join(directory, name)))) {
    throw new UsageError(`Cannot remove "${shown}": it is not a data directory of \`up\`.`);
  }
  // Another owner could redirect the removal by symbolic links while it runs.
  const { uid } = lstatSync(directory);
  if (uid !== 0 && uid !== process.geteuid?.()) {
    throw new UsageError(`Cannot remove "${shown}": it belongs to another user (${uid}).`);
  }
  const nodes = join(directory, 'nodes');
  for (const name of existsSync(nodes) ? readdirSync(nodes) : []) {
    await removeCgroups(join(nodes, name));
  }
  removeAll(directory);
  world.write(`Removed ${shown}.\n`);
}

/**
 * What containers and images have written may have modes that shut this user out, or belong to subordinate IDs. In a user namespace the
 * user is root of both.
 */
function removeAll(directory: string): void {
  try {
    rmSync(directory, { recursive: true, force: true });
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['EACCES', 'EPERM', 'ENOTEMPTY'].includes(code)) throw error;
    const isRemoved = (...flags: readonly string[]): boolean => {
      const inside = ['--user', '--map-root-user', ...flags, '--', 'rm', '-rf', '--', directory];
      return spawnSync('unshare', inside).status === 0;
    };
    if (!isRemoved('--map-auto') && !isRemoved()) throw error;
  }
}
