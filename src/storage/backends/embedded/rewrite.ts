// Writes a store file anew without its free pages. LMDB uses free pages again but never gives them
// back, so a file keeps the size of its greatest day.
import { rename, rm } from 'node:fs/promises';
import { isStoreError } from '../../store-error.ts';
import { commitFailure } from './disk-room.ts';
import { openEnvironment } from './environment.ts';
import { syncDirectoryOf } from './sync-directory.ts';

/** Smaller files are not worth the time at start. */
const smallestBytes = 16 << 20;
/** The file is written anew when its records would fit into this part of it. */
const worthwhileShare = 1 / 3;
const recordsPerCommit = 2_000;

export type FileUse = { readonly fileBytes: number; readonly recordBytes: number };

export function isWorthRewriting({ fileBytes, recordBytes }: FileUse): boolean {
  return fileBytes > smallestBytes && recordBytes < fileBytes * worthwhileShare;
}

/** The file is replaced at once when the new one is complete; without room for it, it stays. */
export async function rewrite(file: string, { recordBytes }: FileUse): Promise<void> {
  const fresh = `${file}.new`;
  await discard(fresh);
  try {
    await copyRecords(file, fresh);
    await rename(fresh, file);
    await syncDirectoryOf(file);
  } catch (error) {
    const failure = await commitFailure(error, file, 2 * recordBytes);
    if (!isStoreError(failure, 'full')) throw failure;
  } finally {
    await discard(fresh);
  }
}

async function copyRecords(file: string, fresh: string): Promise<void> {
  const from = openEnvironment(file);
  const to = openEnvironment(fresh);
  try {
    let records: { key: Buffer; value: Buffer }[] = [];
    const flush = (): Promise<boolean> => {
      const batch = records;
      records = [];
      return to.batch(() => {
        for (const { key, value } of batch) void to.put(key, value);
      });
    };
    for (const record of from.getRange()) {
      records.push(record);
      if (records.length >= recordsPerCommit) await flush();
    }
    await flush();
  } finally {
    await to.close();
    await from.close();
  }
}

/** Takes away a file that was being written, with its lock. */
export async function discard(file: string): Promise<void> {
  await rm(file, { force: true });
  await rm(`${file}-lock`, { force: true });
}
