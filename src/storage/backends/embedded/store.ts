// The durable backend: one directory, one process, one file.
import type { Stats } from 'node:fs';
import { chmod, lstat, mkdir, open, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoreClock } from '../../expiry.ts';
import { firstRevision } from '../../history.ts';
import { type Loaded, startRecordStore } from '../../record-store.ts';
import type { Store } from '../../store.ts';
import { isStoreError } from '../../store-error.ts';
import { createVersions } from '../../versions.ts';
import { commitFailure, probeSpace } from './disk-space.ts';
import { fileFailure, foreign, notAFile } from './file-error.ts';
import { encodeHeader, formatVersion, headerKey } from './format.ts';
import { createLmdbLog, openEnvironment } from './lmdb-log.ts';
import { type DirectoryLock, lockDirectory } from './lock.ts';
import { type Recovered, recover } from './recover.ts';
import { discard, isWorthRewriting, rewrite } from './rewrite.ts';
import { syncDirectoryOf } from './sync-directory.ts';

export type EmbeddedStoreOptions = StoreClock & {
  readonly directory: string;
  /** The revision at which a new store starts; absent: the first. */
  readonly startRevision?: number;
};

export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<Store> {
  const { directory } = options;
  try {
    // The store holds all objects of a cluster, Secrets too: only its owner may read it.
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await restrictToOwner(directory);
    return await openLocked(options, await lockDirectory(directory));
  } catch (error) {
    throw fileFailure(directory, error);
  }
}

async function restrictToOwner(directory: string): Promise<void> {
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
    return { ...found, log: createLmdbLog(openEnvironment(file), file) };
  await rewrite(file, found);
  const again = recover(file) ?? found;
  return { ...again, log: createLmdbLog(openEnvironment(file), file) };
}

/** Under another name first: a file with the final name is always complete, so an empty one is known to be damaged. */
async function create(file: string, revision: number): Promise<Recovered> {
  const fresh = `${file}.new`;
  await discard(fresh);
  try {
    await reserveLockFile(`${fresh}-lock`);
    // LMDB ends the process when it cannot write the first pages of a new file.
    await probeSpace(file, newFileBytes);
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
 * are not allocated yet. Here they are allocated, or an error is thrown that can be caught.
 */
async function reserveLockFile(file: string): Promise<void> {
  const found = await lstatIfExists(file);
  if (found !== undefined && !found.isFile()) throw foreign(file, notAFile(found));
  if (found !== undefined && found.size >= lockFileBytes) return;
  const handle = await open(file, 'w', 0o600);
  try {
    await handle.writeFile(Buffer.alloc(lockFileBytes));
  } finally {
    await handle.close();
  }
}

async function lstatIfExists(file: string): Promise<Stats | undefined> {
  try {
    return await lstat(file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
