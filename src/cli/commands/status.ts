// Shows what `up` runs.
import { resolve } from 'node:path';
import { type CommandDefinition, FailedError, type World } from '../../flags/command.ts';
import { readRunning } from '../../flags/state-file.ts';
import { addDataDirFlag, type DataDirFlag } from '../../up/data-dir-flag.ts';
import { statusText } from '../../up/status-text.ts';

export const status: CommandDefinition = {
  configure(command, world) {
    addDataDirFlag(command).action((flags: DataDirFlag) => run(flags, world));
  },
};

function run({ dataDir }: DataDirFlag, world: World): void {
  const state = readRunning(resolve(world.cwd(), dataDir));
  if (state === undefined) {
    throw new FailedError(`Nothing runs with the data in "${dataDir}". \`fairlead up\` starts it.`);
  }
  world.write(statusText(state, world.now()));
}
