// The flag by which commands find a running `up`: its data directory.
import type { Command } from 'commander';

export type DataDirFlag = { readonly dataDir: string };

export const defaultDataDir = '.fairlead';

export function addDataDirFlag(command: Command): Command {
  return command.option('--data-dir <dir>', 'Data directory of the running `up`', defaultDataDir);
}

/** The argument with which a command finds an `up` that was started with these flags: empty, or ` --data-dir DIR`. */
export function dataDirArgument({ dataDir }: DataDirFlag): string {
  if (dataDir === defaultDataDir) return '';
  const isPlain = /^[\w@%+=:,./-]+$/.test(dataDir);
  return ` --data-dir ${isPlain ? dataDir : `'${dataDir.replaceAll("'", "'\\''")}'`}`;
}
