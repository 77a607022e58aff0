// Blobs by their digests. A blob is complete and verified, or it is not there: it is received into a file of its own, which is locked meanwhile
// so that two that want the same one do not fetch it twice, and which a later attempt continues.
import { createHash, type Hash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { type FileHandle, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type FileLock, lockFile, tryLockFile } from '../../host/lock-file.ts';
import { ImageError } from '../image-error.ts';
import { syncDirectory } from './image-index.ts';

export type BlobSource = {
  readonly digest: string;
  readonly size: number;
  /** As in messages: `layer`, `config`. */
  readonly what: string;
  /** The bytes from an offset on. */
  readonly read: (offset: number) => AsyncIterable<Buffer>;
  /** Bytes that are here: received, or left by an earlier attempt. */
  readonly received?: (bytes: number) => void;
};

export type ImageBlobs = {
  readonly path: (digest: string) => string;
  /** Undefined if it is not there. */
  readonly size: (digest: string) => Promise<number | undefined>;
  /** Of a small blob. */
  readonly read: (digest: string) => Promise<Buffer>;
  /** Does nothing if it is there. Throws ImageError for other bytes than promised. */
  readonly receive: (source: BlobSource, signal: AbortSignal) => Promise<void>;
  /** A file of the same file system becomes a blob; the caller has computed its digest. */
  readonly adopt: (file: string, digest: string) => Promise<void>;
  readonly remove: (digest: string) => Promise<void>;
  /** Removes what no image has and what was not completed, if it is older. */
  readonly sweep: (used: ReadonlySet<string>, before: number) => Promise<void>;
};

const hexOf = (digest: string): string => digest.slice('sha256:'.length);

export function openBlobs(directory: string): ImageBlobs {
  const complete = join(directory, 'blobs', 'sha256');
  const incoming = join(directory, 'incoming');
  const path = (digest: string): string => join(complete, hexOf(digest));
  const size = async (digest: string): Promise<number | undefined> =>
    (await statOrUndefined(path(digest)))?.size;
  return {
    ...{ path, size },
    read: (digest) => readFile(path(digest)),
    receive: async (source, signal) => {
      if ((await size(source.digest)) !== undefined) {
        source.received?.(source.size);
        return;
      }
      const part = join(incoming, hexOf(source.digest));
      const lock = await lockFile(part, 'exclusive', signal);
      try {
        // Another may have completed it meanwhile, and this made an empty file.
        if ((await size(source.digest)) !== undefined) await rm(part, { force: true });
        else await completeBlob(part, source, path(source.digest));
        source.received?.(source.size);
      } finally {
        lock.release();
      }
    },
    adopt: async (file, digest) => {
      await rename(file, path(digest));
      await syncDirectory(complete);
    },
    remove: (digest) => rm(path(digest), { force: true }),
    sweep: async (used, before) => {
      const blobs = (await readdir(complete)).filter((name) => !used.has(`sha256:${name}`));
      const parts = await readdir(incoming);
      await removeOld([...blobs.map((name) => join(complete, name))], before);
      await removeOld([...parts.map((name) => join(incoming, name))], before);
    },
  };
}

async function completeBlob(part: string, source: BlobSource, target: string): Promise<void> {
  await fill(part, source);
  await rename(part, target);
  await syncDirectory(join(target, '..'));
}

/** The file with the bytes that the digest names. Where an earlier attempt left others, it begins anew once. */
async function fill(part: string, source: BlobSource): Promise<void> {
  const left = (await stat(part)).size;
  const start = left > source.size ? 0 : left;
  const file = await open(part, 'r+', 0o600);
  try {
    if (start !== left) await file.truncate(0);
    if (await isFilled(file, part, source, start)) return;
    if (start > 0) {
      await file.truncate(0);
      if (await isFilled(file, part, source, 0)) return;
    }
    // What was received is useless for the next attempt, too.
    await rm(part, { force: true });
    throw new ImageError(
      'ErrImagePull',
      'FailedPrecondition',
      `failed commit on ref "${source.what}-${source.digest}": unexpected commit digest, expected ${source.digest}`,
    );
  } finally {
    await file.close();
  }
}

async function isFilled(
  file: FileHandle,
  part: string,
  source: BlobSource,
  start: number,
): Promise<boolean> {
  const hash = createHash('sha256');
  await hashBeginning(part, start, hash);
  let position = start;
  source.received?.(position);
  if (position < source.size) {
    for await (const bytes of source.read(position)) {
      await writeAll(file, bytes, position);
      hash.update(bytes);
      position += bytes.length;
      source.received?.(position);
    }
  }
  await file.sync();
  return `sha256:${hash.digest('hex')}` === source.digest;
}

async function hashBeginning(path: string, length: number, hash: Hash): Promise<void> {
  if (length === 0) return;
  const bytes = createReadStream(path, { end: length - 1, highWaterMark: 256 * 1024 });
  for await (const part of bytes) hash.update(part as Buffer);
}

async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    at += (await file.write(bytes, at, bytes.length - at, position + at)).bytesWritten;
  }
}

async function removeOld(paths: readonly string[], before: number): Promise<void> {
  for (const path of paths) {
    const found = await statOrUndefined(path);
    if (found === undefined || found.mtimeMs >= before) continue;
    const lock = ifLockable(path);
    if (lock === undefined) continue;
    await rm(path, { force: true });
    lock.release();
  }
}

/** Undefined while it is being received. */
function ifLockable(path: string): FileLock | undefined {
  return statSync(path, { throwIfNoEntry: false }) === undefined
    ? undefined
    : tryLockFile(path, 'exclusive');
}

async function statOrUndefined(
  path: string,
): Promise<{ readonly size: number; readonly mtimeMs: number } | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
