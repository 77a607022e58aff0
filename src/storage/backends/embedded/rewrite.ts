// Rewrites a store file without its free pages. LMDB reuses free pages but never truncates the file, so it keeps
// the largest size it ever had.
import { rename, rm } from 'node:fs/promises';
import { isStoreError } from '../../store-error.ts';
import { commitFailure } from './disk-space.ts';
import { openEnvironment } from './lmdb-log.ts';
import { syncDirectoryOf } from './sync-directory.ts';

/** Smaller files are not worth the start-up time. */
const minFileBytes = 16 << 20;
/** The file is rewritten when its records take no more than this fraction of it. */
const maxUsedShare = 1 / 3;
const recordsPerCommit = 2_000;

export type FileUse = { readonly fileBytes: number; readonly recordBytes: number };

export function isWorthRewriting({ fileBytes, recordBytes }: FileUse): boolean {
  return fileBytes > minFileBytes && recordBytes < fileBytes * maxUsedShare;
}

/** The file is replaced by a rename when the new one is complete; without space for it, it stays. */
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

/** Removes an incomplete file and LMDB's lock file of it. */
export async function discard(file: string): Promise<void> {
  await rm(file, { force: true });
  await rm(`${file}-lock`, { force: true });
}
