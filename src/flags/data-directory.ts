// The directory of a server: made where there is none, and taken back where a first start came to nothing.
import { mkdir, rm, rmdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isStoreError } from '../storage/store-error.ts';
import { FailedError, UsageError } from './command.ts';
import { readRunning } from './state-file.ts';

/** The directories that had to be made, the outermost first; none where it was there. */
export async function makeDataDirectory(path: string): Promise<readonly string[]> {
  try {
    return await make(path);
  } catch (error) {
    const reason = reasons[(error as NodeJS.ErrnoException).code ?? ''];
    if (reason === undefined) throw error;
    throw new UsageError(
      `Cannot use "${path}" as the data directory: ${reason}. Choose another with --data-dir.`,
    );
  }
}

const reasons: Readonly<Record<string, string>> = {
  EEXIST: 'it is a file',
  ENOTDIR: 'a part of the path is a file',
  ENOENT: 'no directory can be made there',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/** One by one: Node.js' own way to make parents too never ends where a parent is there and takes no children, as in /proc. */
async function make(path: string): Promise<readonly string[]> {
  try {
    await mkdir(path, { mode: 0o700 });
    return [path];
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return [];
    const parent = dirname(path);
    if (code !== 'ENOENT' || parent === path) throw error;
    const made = await make(parent);
    if (made.length === 0) throw error;
    await mkdir(path, { mode: 0o700 });
    return [...made, path];
  }
}

/**
 * What to tell of a directory that others may enter or change; undefined where they may not. It is not closed here: somebody may have named
 * their home, or /tmp. What the program keeps in it is closed by itself.
 */
export async function openDirectoryWarning(path: string): Promise<string | undefined> {
  const { mode } = await stat(path);
  if ((mode & 0o077) === 0) return undefined;
  const shown = `0${(mode & 0o777).toString(8)}`;
  return `Warning: The data directory "${path}" is open to other users (mode ${shown}); run chmod 700 on it.`;
}

/** `made` is what makeDataDirectory() said: with nothing made, nothing is removed. Parents that somebody uses by now stay. */
export async function removeDataDirectory(made: readonly string[]): Promise<void> {
  const [directory, ...parents] = [...made].reverse();
  if (directory === undefined) return;
  await rm(directory, { recursive: true, force: true });
  for (const parent of parents) {
    try {
      await rmdir(parent);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOTEMPTY') return;
      throw error;
    }
  }
}

/** `up` runs where processes have numbers of their own: what the lock says of its owner means nothing out here. */
export function explainLocked(error: unknown, dataDir: string): unknown {
  if (!isStoreError(error, 'locked')) return error;
  const running = readRunning(dataDir);
  if (running === undefined) return error;
  return new FailedError(
    `error: Cannot open "${dataDir}": \`fairlead up\` has it open (process ${running.pid}). End that with \`fairlead down\`, or choose another directory with --data-dir.`,
    { cause: error },
  );
}
