// Which `up` is meant: the one that keeps its data here.
import type { Command } from 'commander';

export type DataDirFlag = { readonly dataDir: string };

export function addDataDirFlag(command: Command): Command {
  return command.option('--data-dir <dir>', 'where the running `up` has its data', '.fairlead');
}
