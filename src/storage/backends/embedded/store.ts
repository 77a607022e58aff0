// The durable engine: one directory, one process, one file.
import { mkdir, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoreClock } from '../../expiry.ts';
import { firstRevision } from '../../history.ts';
import { type Loaded, startRecordStore } from '../../record-store.ts';
import type { Store } from '../../store.ts';
import { createVersions } from '../../versions.ts';
import { createFileLog, openEnvironment } from './environment.ts';
import { encodeHeader, formatVersion, headerKey } from './format.ts';
import { lockDirectory } from './lock.ts';
import { recover } from './recover.ts';
import { isWorthRewriting, rewrite } from './rewrite.ts';
import { syncDirectoryOf } from './sync-directory.ts';

export type EmbeddedStoreOptions = StoreClock & {
  readonly directory: string;
  /** Where the revisions of a store begin that is new; absent: at the first. */
  readonly startRevision?: number;
};

export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<Store> {
  const { directory } = options;
  // The store holds everything a cluster knows, secrets too: it is for its owner only.
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const lock = await lockDirectory(directory);
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
  const found = recover(file);
  await reserveLockFile(`${file}-lock`);
  if (found === undefined) return create(file, startRevision);
  if (!isWorthRewriting(found))
    return { ...found, log: createFileLog(openEnvironment(file), file) };
  await rewrite(file, found);
  const again = recover(file) ?? found;
  return { ...again, log: createFileLog(openEnvironment(file), file) };
}

async function create(file: string, revision: number): Promise<Loaded> {
  const environment = openEnvironment(file);
  await environment.put(headerKey, encodeHeader({ format: formatVersion, compacted: revision }));
  await syncDirectoryOf(file);
  return {
    log: createFileLog(environment, file),
    versions: createVersions(),
    revision,
    compacted: revision,
  };
}

/** More than LMDB's table of readers takes. */
const lockFileBytes = 16 * 1024;

/**
 * LMDB maps its lock file and writes to the map, which on a full disk ends the process if the blocks
 * are not there yet. Here they are made, or an error is thrown that can be caught.
 */
async function reserveLockFile(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  if (found !== undefined && found.size >= lockFileBytes) return;
  const handle = await open(file, 'w', 0o600);
  try {
    await handle.writeFile(Buffer.alloc(lockFileBytes));
  } finally {
    await handle.close();
  }
}
