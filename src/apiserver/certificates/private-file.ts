// Files with secrets: readable by their owner only, written atomically, and durable.
import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Writes a temporary file and renames it, so that readers never see a partial file. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw new PrivateFileError(`Cannot write "${path}": ${reasonOf(error)}`, { cause: error });
  }
  await syncDirectory(dirname(path));
}

/**
 * The text of a file, undefined when there is none. A private key that other users of the machine can read or change, or that
 * belongs to one of them, is refused: it may be compromised, and its owner must decide.
 */
export async function readPrivateFile(path: string): Promise<string | undefined> {
  const found = await readWithMode(path);
  if (found === undefined) return undefined;
  const { text, mode, owner } = found;
  if (!text.includes('PRIVATE KEY-----')) return text;
  const self = process.geteuid?.() ?? owner;
  if (owner !== self && owner !== 0) {
    throw new PrivateFileError(
      `Cannot use "${path}": it holds a private key that belongs to user ${owner}, who may read and write it, not to this program's user (${self}). If no other user has read it, run chown ${self} on it; else remove it and what it signed`,
    );
  }
  if ((mode & openToOthers) === 0) return text;
  const shown = `0${(mode & 0o777).toString(8)}`;
  throw new PrivateFileError(
    `Cannot use "${path}": it holds a private key that others may read or write (mode ${shown}). If no other user has read it, run chmod 600 on it; else remove it and what it signed`,
  );
}

/** Read and write of others, write of the group. */
const openToOthers = 0o026;

/** A private file cannot be used; the message says what to do. */
export class PrivateFileError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PrivateFileError';
  }
}

/** Text and mode of the same file, even if it is replaced meanwhile. */
async function readWithMode(
  path: string,
): Promise<{ readonly text: string; readonly mode: number; readonly owner: number } | undefined> {
  try {
    const file = await open(path, 'r');
    try {
      const { mode, uid: owner } = await file.stat();
      return { mode, owner, text: await file.readFile('utf8') };
    } finally {
      await file.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new PrivateFileError(`Cannot read "${path}": ${reasonOf(error)}`, { cause: error });
  }
}

/** A rename is durable once the directory that holds the name is. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
