// Ends what `up` runs, from another terminal.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Clock, sleep, systemClock } from '../../host/clock.ts';
import { removeCgroups } from '../../node/runtimes/process/apply-cgroups.ts';
import { type CommandDefinition, FailedError, UsageError, type World } from '../command.ts';
import { addDataDirFlag, type DataDirFlag } from '../up/data-dir-flag.ts';
import { createProgress } from '../up/progress.ts';
import { isOurs, readRunning } from '../up/state-file.ts';

type Flags = DataDirFlag & { readonly purge?: true };

export const down: CommandDefinition = {
  configure(command, world) {
    addDataDirFlag(command)
      .option('--purge', 'remove its data as well: objects, certificates, logs')
      .action(async (flags: Flags) => run(flags, world));
  },
};

async function run({ dataDir, purge }: Flags, world: World): Promise<void> {
  const directory = resolve(world.cwd(), dataDir);
  const state = readRunning(directory);
  if (state === undefined && purge !== true) {
    throw new FailedError(`Nothing runs with the data in "${dataDir}".`);
  }
  if (state !== undefined) {
    process.kill(state.pid, 'SIGTERM');
    const progress = createProgress(world);
    await progress(`waiting for process ${state.pid} to end`, endOf(state.pid, systemClock, world));
    world.write(`Ended process ${state.pid}.\n`);
  }
  if (purge === true) await removeData(directory, dataDir, world);
}

/** Ending waits for pods, each of which has at most its grace; after that something is wrong. */
const longestMs = 120_000;
const lookMs = 50;

async function endOf(pid: number, clock: Clock, { interrupted }: World): Promise<void> {
  const deadline = clock.now() + longestMs;
  while (isOurs(pid)) {
    if (interrupted.aborted) throw new FailedError(`Process ${pid} is still ending.`);
    if (clock.now() > deadline) {
      throw new FailedError(`Process ${pid} does not end. \`kill -9 ${pid}\` ends all of it.`);
    }
    await sleep(clock, lookMs, interrupted);
  }
}

/** What makes a directory ours; nobody's home is removed because of a wrong flag. */
const marks = ['store', 'pki'];

async function removeData(directory: string, shown: string, world: World): Promise<void> {
  if (!existsSync(directory)) return;
  if (!marks.every((name) => existsSync(join(directory, name)))) {
    throw new UsageError(`Cannot remove "${shown}": it is not a data directory of \`up\`.`);
  }
  const nodes = join(directory, 'nodes');
  for (const name of existsSync(nodes) ? readdirSync(nodes) : []) {
    await removeCgroups(join(nodes, name));
  }
  rmSync(directory, { recursive: true, force: true });
  world.write(`Removed ${shown}.\n`);
}
