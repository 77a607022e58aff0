// Which `up` is meant: the one that keeps its data here.
import type { Command } from 'commander';

export type DataDirFlag = { readonly dataDir: string };

export const defaultDataDir = '.fairlead';

export function addDataDirFlag(command: Command): Command {
  return command.option('--data-dir <dir>', 'where the running `up` has its data', defaultDataDir);
}

/** What a command must be told to find an `up` that was started with these flags: nothing, or ` --data-dir DIR`. */
export function dataDirArgument({ dataDir }: DataDirFlag): string {
  if (dataDir === defaultDataDir) return '';
  const isPlain = /^[\w@%+=:,./-]+$/.test(dataDir);
  return ` --data-dir ${isPlain ? dataDir : `'${dataDir.replaceAll("'", "'\\''")}'`}`;
}
