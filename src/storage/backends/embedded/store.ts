// The durable engine: one directory, one process, one file.
import { chmod, lstat, mkdir, open, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoreClock } from '../../expiry.ts';
import { firstRevision } from '../../history.ts';
import { type Loaded, startRecordStore } from '../../record-store.ts';
import type { Store } from '../../store.ts';
import { isStoreError } from '../../store-error.ts';
import { createVersions } from '../../versions.ts';
import { assertRoom, commitFailure } from './disk-room.ts';
import { createFileLog, openEnvironment } from './environment.ts';
import { fileFailure, foreign, notAFile } from './file-error.ts';
import { encodeHeader, formatVersion, headerKey } from './format.ts';
import { type DirectoryLock, lockDirectory } from './lock.ts';
import { type Recovered, recover } from './recover.ts';
import { discard, isWorthRewriting, rewrite } from './rewrite.ts';
import { syncDirectoryOf } from './sync-directory.ts';

export type EmbeddedStoreOptions = StoreClock & {
  readonly directory: string;
  /** Where the revisions of a store begin that is new; absent: at the first. */
  readonly startRevision?: number;
};

export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<Store> {
  const { directory } = options;
  try {
    // The store holds everything a cluster knows, secrets too: it is for its owner only.
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await closeToOthers(directory);
    return await openLocked(options, await lockDirectory(directory));
  } catch (error) {
    throw fileFailure(directory, error);
  }
}

async function closeToOthers(directory: string): Promise<void> {
  const { mode } = await stat(directory);
  if ((mode & 0o077) !== 0) await chmod(directory, mode & 0o700);
}

async function openLocked(options: EmbeddedStoreOptions, lock: DirectoryLock): Promise<Store> {
  const { directory } = options;
  try {
    const loaded = await load(join(directory, 'store.mdb'), options.startRevision);
    const close = async (): Promise<void> => {
      await loaded.log.close();
      await lock.release();
    };
    return startRecordStore({ ...loaded, log: { ...loaded.log, close } }, options);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function load(file: string, startRevision = firstRevision): Promise<Loaded> {
  const found = recover(file) ?? (await create(file, startRevision));
  await reserveLockFile(`${file}-lock`);
  if (!isWorthRewriting(found))
    return { ...found, log: createFileLog(openEnvironment(file), file) };
  await rewrite(file, found);
  const again = recover(file) ?? found;
  return { ...again, log: createFileLog(openEnvironment(file), file) };
}

/** Beside its place first: a file by this name is always a whole one, so that an empty one is known to be damaged. */
async function create(file: string, revision: number): Promise<Recovered> {
  const fresh = `${file}.new`;
  await discard(fresh);
  try {
    await reserveLockFile(`${fresh}-lock`);
    // LMDB ends the process when it cannot write the first pages of a new file.
    await assertRoom(file, newFileBytes);
    const environment = openEnvironment(fresh);
    const header = encodeHeader({ format: formatVersion, compacted: revision });
    await environment.put(headerKey, header).finally(() => environment.close());
    await rename(fresh, file);
    await syncDirectoryOf(file);
  } catch (error) {
    throw isStoreError(error) ? error : await commitFailure(error, file, newFileBytes);
  } finally {
    await discard(fresh);
  }
  return {
    ...{ versions: createVersions(), revision, compacted: revision },
    ...{ fileBytes: 0, recordBytes: 0 },
  };
}

/** More than a store without records takes. */
const newFileBytes = 64 * 1024;

/** More than LMDB's table of readers takes. */
const lockFileBytes = 16 * 1024;

/**
 * LMDB maps its lock file and writes to the map, which on a full disk ends the process if the blocks
 * are not there yet. Here they are made, or an error is thrown that can be caught.
 */
async function reserveLockFile(file: string): Promise<void> {
  const found = await lstat(file).catch(() => undefined);
  if (found !== undefined && !found.isFile()) throw foreign(file, notAFile(found));
  if (found !== undefined && found.size >= lockFileBytes) return;
  const handle = await open(file, 'w', 0o600);
  try {
    await handle.writeFile(Buffer.alloc(lockFileBytes));
  } finally {
    await handle.close();
  }
}
