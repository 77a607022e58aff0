// Tells a full disk from a broken one, and when there is room again.
import { statfsSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StoreError } from '../../store-error.ts';

/** What the file system says when it is full, or the user's share of it is, or a file may not grow. */
const fullCodes = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/**
 * Resolves when there is that much room beside the file, by trying; rejects with a StoreError 'full'. Who tries at the same
 * time for another purpose has a file of their own.
 */
export async function assertRoom(file: string, bytes: number, purpose = 'probe'): Promise<void> {
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
 * Throws a StoreError 'full' when the file system says that it has less room than that. LMDB spoils its own memory now and then
 * when a write of it fails for want of room, and that ends the process later: it must not come so far where that can be known.
 */
export function assertFree(file: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(dirname(file));
  if (bavail * bsize < bytes) throw full(file, undefined);
}

/**
 * What a failed commit means that may have needed so many bytes. Looking for room tells, not the error:
 * LMDB reports a write that was cut short for want of room as EIO.
 */
export async function commitFailure(
  error: unknown,
  file: string,
  bytes: number,
): Promise<StoreError> {
  const cause = await causeOf(error);
  try {
    await assertRoom(file, bytes);
  } catch (failure) {
    if (failure instanceof StoreError) return failure;
  }
  return unavailable(file, cause);
}

/** lmdb rejects with an error that carries a promise, which rejects with the cause. */
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
  const message = `Cannot write to "${file}": there is no space left; reads go on, and so will writes when there is`;
  return new StoreError('full', message, { cause });
}

function unavailable(file: string, cause: unknown): StoreError {
  const what = cause instanceof Error ? cause.message : String(cause);
  const message = `Cannot write to "${file}": ${what}. What was acknowledged is safe; start again when the disk is well`;
  return new StoreError('unavailable', message, { cause });
}
