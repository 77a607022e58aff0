// The data directory of a server: created if missing, and removed again when the first start fails.
import { mkdir, rm, rmdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isStoreError } from '../storage/store-error.ts';
import { FailedError, UsageError } from './command.ts';
import { readRunning } from './state-file.ts';

/** Returns the directories that were created, outermost first; empty if it existed. */
export async function makeDataDirectory(path: string): Promise<readonly string[]> {
  try {
    return await makeDirectory(path);
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

/** One by one: mkdir({ recursive: true }) of Node.js loops forever below a directory that rejects children, such as /proc. */
async function makeDirectory(path: string): Promise<readonly string[]> {
  try {
    await mkdir(path, { mode: 0o700 });
    return [path];
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return [];
    const parent = dirname(path);
    if (code !== 'ENOENT' || parent === path) throw error;
    const made = await makeDirectory(parent);
    if (made.length === 0) throw error;
    await mkdir(path, { mode: 0o700 });
    return [...made, path];
  }
}

/**
 * A warning about a directory that other users may enter or change. Its mode is not changed, as it may be a home directory or /tmp; the
 * program's own files in it have private modes.
 */
export async function openDirectoryWarning(path: string): Promise<string | undefined> {
  const { mode } = await stat(path);
  if ((mode & 0o077) === 0) return undefined;
  const shown = `0${(mode & 0o777).toString(8)}`;
  return `Warning: The data directory "${path}" is open to other users (mode ${shown}); run chmod 700 on it.`;
}

/** `made` is the result of makeDataDirectory(): nothing else is removed. Parents that are in use by now remain. */
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

/** `up` runs in its own PID namespace: the process ID in the lock has no meaning outside, so look up its outer one. */
export function explainLocked(error: unknown, dataDir: string): unknown {
  if (!isStoreError(error, 'locked')) return error;
  const running = readRunning(dataDir);
  if (running === undefined) return error;
  return new FailedError(
    `error: Cannot open "${dataDir}": \`fairlead up\` has it open (process ${running.pid}). End that with \`fairlead down\`, or choose another directory with --data-dir.`,
    { cause: error },
  );
}
