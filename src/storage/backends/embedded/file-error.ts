// The errors about a store file, worded for the operator who has to act on them.
import type { Stats } from 'node:fs';
import { StoreError } from '../../store-error.ts';
import { guessKey } from './format.ts';

export function damaged(file: string, what: string): StoreError {
  return new StoreError(
    'damaged',
    `Cannot use "${file}": ${what}. Restore it from a copy, or move it away to start empty`,
  );
}

/** Names the record by its id and, where it can be read, its key. */
export function damagedRecord(file: string, id: string, bytes: Buffer | undefined): StoreError {
  return damaged(
    file,
    bytes === undefined
      ? `record ${id} is missing`
      : `record ${id} of key ${JSON.stringify(guessKey(bytes))} does not fit its checksum`,
  );
}

export function foreign(file: string, what: string): StoreError {
  return new StoreError(
    'foreign',
    `Cannot use "${file}": ${what}. Move it away, or choose another directory`,
  );
}

/** What is found in place of a file, as the rest of a sentence. */
export function notAFile(found: Stats): string {
  if (found.isDirectory()) return 'it is a directory';
  if (found.isSymbolicLink()) return 'it is a symbolic link; link the directory instead';
  return 'it is not a regular file';
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user may not read and write there',
  EPERM: 'this user may not read and write there',
  EROFS: 'the file system is read-only',
  ENOSPC: 'there is no space left',
  EDQUOT: 'there is no space left',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'it is a file',
  ELOOP: 'it is a symbolic link that leads to itself',
  ENAMETOOLONG: 'the path is too long',
  EMFILE: 'this process has too many files open',
  ENFILE: 'this machine has too many files open',
};

/** Why a store cannot be opened, worded the same everywhere. */
export function fileFailure(directory: string, error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const { code = '', message } = error as NodeJS.ErrnoException;
  const why = reasons[code] ?? message;
  return new StoreError('unavailable', `Cannot open "${directory}": ${why}`, { cause: error });
}
