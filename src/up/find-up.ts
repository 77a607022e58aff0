// Finds a running `up` by its command line, also before it has written its state file.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { defaultDataDir } from './data-dir-flag.ts';

/** The process to signal: the launcher if there is one. Undefined if no `up` uses the data directory, or the system has no /proc. */
export function findUp(dataDir: string): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const found = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => isUpWith(pid, dataDir));
  return found.find((pid) => !ancestorsOf(pid).some((ancestor) => found.includes(ancestor)));
}

function isUpWith(pid: number, dataDir: string): boolean {
  const argv = readProcess(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0'));
  const dataDirFlag = argv === undefined ? undefined : dataDirOf(argv);
  if (dataDirFlag === undefined) return false;
  const cwd = readProcess(() => readlinkSync(`/proc/${pid}/cwd`));
  return cwd !== undefined && resolve(cwd, dataDirFlag) === dataDir;
}

/** The data directory in the command line of a `fairlead up`; undefined for any other command line. */
export function dataDirOf(argv: readonly string[]): string | undefined {
  const [interpreter = '', program = '', command, ...flags] = argv;
  if (!/^node/.test(basename(interpreter)) || basename(program) !== 'fairlead') return undefined;
  if (command !== 'up') return undefined;
  const at = flags.findLastIndex((flag) => /^--data-dir(=|$)/.test(flag));
  if (at < 0) return defaultDataDir;
  const [, value] = /^--data-dir=(.*)$/s.exec(flags[at] ?? '') ?? [];
  return value ?? flags[at + 1];
}

function ancestorsOf(pid: number): readonly number[] {
  const status = readProcess(() => readFileSync(`/proc/${pid}/status`, 'utf8'));
  const parent = Number(/^PPid:\s*(\d+)$/m.exec(status ?? '')?.[1] ?? 0);
  return parent <= 1 ? [] : [parent, ...ancestorsOf(parent)];
}

/** Undefined for a process that has exited meanwhile or belongs to another user. */
function readProcess<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(code)) return undefined;
    throw error;
  }
}
