// Distinguishes a full disk from a broken one, and notices when there is space again.
import { statfsSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StoreError } from '../../store-error.ts';

/** A full file system, an exhausted quota, a file that may not grow. */
const fullCodes = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/**
 * Resolves when there is that much space beside the file, by writing a probe of that size; rejects with a StoreError 'full'.
 * Concurrent callers name different purposes, and so use different probes.
 */
export async function probeSpace(file: string, bytes: number, purpose = 'probe'): Promise<void> {
  const probe = `${file}.${purpose}`;
  try {
    const handle = await open(probe, 'w', 0o600);
    try {
      await handle.writeFile(Buffer.alloc(bytes));
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (isFull(error)) throw full(file, error);
    throw unavailable(file, error);
  } finally {
    await rm(probe, { force: true });
  }
}

/**
 * Throws a StoreError 'full' when the file system reports less free space than that. A write of LMDB that fails for lack of space
 * sometimes corrupts its memory, which ends the process later: such a write must not be tried when that can be known.
 */
export function assertFreeSpace(file: string, bytes: number): void {
  if (freeBytes(file) < bytes) throw full(file, undefined);
}

/** Throws a StoreError 'unavailable' where the directory is gone. */
function freeBytes(file: string): number {
  try {
    const { bavail, bsize } = statfsSync(dirname(file));
    return bavail * bsize;
  } catch (error) {
    throw unavailable(file, error);
  }
}

/**
 * Why a commit failed that may have needed so many bytes. A probe tells, not the error: LMDB reports a write that was cut short
 * for lack of space as EIO.
 */
export async function commitFailure(
  error: unknown,
  file: string,
  bytes: number,
): Promise<StoreError> {
  const cause = await causeOf(error);
  try {
    await probeSpace(file, bytes);
  } catch (failure) {
    if (failure instanceof StoreError) return failure;
    // The probe could not be removed: the error of the commit says more.
  }
  return unavailable(file, cause);
}

/** lmdb rejects with an error that has a promise, which rejects with the cause. */
async function causeOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !('commitError' in error)) return error;
  try {
    await error.commitError;
    return error;
  } catch (cause) {
    return cause;
  }
}

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && fullCodes.has(String(error.code));
}

function full(file: string, cause: unknown): StoreError {
  const message = `Cannot write to "${file}": there is no space left; reads work, and writes will when there is space again`;
  return new StoreError('full', message, { cause });
}

function unavailable(file: string, cause: unknown): StoreError {
  const what = cause instanceof Error ? cause.message : String(cause);
  const message = `Cannot write to "${file}": ${what}. What was acknowledged is safe; restart when the disk works`;
  return new StoreError('unavailable', message, { cause });
}
