// A tar file with images, read once from its beginning to its end, as from a pipe. Every file in it becomes a temporary file of the store with its
// digest, and what is needed in the end becomes a blob.
import { createHash, type Hash, randomUUID } from 'node:crypto';
import { type FileHandle, open, readFile, rm } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { maxManifestBytes } from '../parse-manifest.ts';
import type { ImageBlobs } from '../store/image-blobs.ts';
import { createTarReader } from '../tar/read-tar.ts';
import { type TarEntry, TarError } from '../tar/tar-entry.ts';
import { isBomb } from '../unpack/limits.ts';
import { type ArchiveFiles, archiveError, type TakenBlob } from './archive-files.ts';

export type ArchiveOptions = {
  readonly blobs: ImageBlobs;
  /** For temporary files. */
  readonly directory: string;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
};

/** Of temporary files, which the next start removes if no process is loading. */
export const loadingSuffix = '.load';
/** An image has at most 127 layers of three files each; archives with dozens of images exist. */
const maxFiles = 20_000;

type Spooled = TakenBlob & {
  readonly file: string;
  /** A blob of the store by now. */
  readonly isTaken?: boolean;
};

type Spool = ArchiveOptions & {
  readonly files: Map<string, Spooled>;
  readonly links: Map<string, string>;
  current?: {
    readonly path: string;
    readonly file: string;
    readonly handle: FileHandle;
    readonly hash: Hash;
    size: number;
  };
};

/** Throws ImageError. */
export async function openArchive(
  source: AsyncIterable<Buffer>,
  options: ArchiveOptions,
): Promise<ArchiveFiles> {
  const spool: Spool = { ...options, files: new Map(), links: new Map() };
  const close = async (): Promise<void> => {
    await spool.current?.handle.close();
    if (spool.current !== undefined) await rm(spool.current.file, { force: true });
    for (const { file, isTaken } of spool.files.values())
      if (isTaken !== true) await rm(file, { force: true });
  };
  try {
    await spoolAll(spool, source);
  } catch (error) {
    await close();
    if (error instanceof TarError) throw archiveError(error.message, { cause: error });
    throw error;
  }
  const pathOf = (path: string): string =>
    spool.files.has(path) ? path : (spool.links.get(path) ?? path);
  const find = (path: string): Spooled | undefined => spool.files.get(pathOf(path));
  return {
    close,
    text: async (path) => {
      const found = find(path);
      if (found === undefined) return undefined;
      if (found.size > maxManifestBytes)
        throw archiveError(`${path} has ${found.size} bytes, more than 4 MiB`);
      return readFile(found.file, 'utf8');
    },
    take: async (path, expected) => {
      const found = find(path);
      if (found === undefined) return undefined;
      const { digest, size } = found;
      if (expected !== undefined && (expected.digest !== digest || expected.size !== size))
        throw archiveError(
          `${path} is ${digest} with ${size} bytes, want ${expected.size} bytes of ${expected.digest}`,
        );
      if (found.isTaken !== true) {
        await options.blobs.adopt(found.file, digest);
        const file = options.blobs.path(digest);
        spool.files.set(pathOf(path), { digest, size, file, isTaken: true });
      }
      return { digest, size };
    },
  };
}

async function spoolAll(spool: Spool, source: AsyncIterable<Buffer>): Promise<void> {
  const reader = createTarReader();
  let total = 0;
  for await (const part of decoded(source)) {
    spool.signal.throwIfAborted();
    total += part.length;
    if (total > spool.maxBytes)
      throw archiveError(`the archive has more than ${spool.maxBytes} bytes`);
    for (const event of reader.push(part)) {
      if (event.kind === 'entry') await startFile(spool, event.entry);
      else if (event.kind === 'content') await writeContent(spool, event.bytes);
      else await endFile(spool);
    }
  }
  if (total === 0) throw archiveError('the archive is empty');
  reader.finish();
}

async function startFile(spool: Spool, { kind, name, target }: TarEntry): Promise<void> {
  const path = posix.normalize(name).replace(/^\.?\//, '');
  if (spool.files.size + spool.links.size >= maxFiles)
    throw archiveError(`the archive has more than ${maxFiles} files`);
  // Names are keys only: nothing is written by them.
  if (kind === 'symlink') spool.links.set(path, posix.join(posix.dirname(path), target));
  if (kind === 'link') spool.links.set(path, posix.normalize(target));
  if (kind !== 'file') return;
  const file = join(spool.directory, `${randomUUID()}${loadingSuffix}`);
  const handle = await open(file, 'wx', 0o600);
  spool.current = { path, file, handle, hash: createHash('sha256'), size: 0 };
}

async function writeContent({ current }: Spool, bytes: Buffer): Promise<void> {
  if (current === undefined) return;
  current.hash.update(bytes);
  current.size += bytes.length;
  for (let at = 0; at < bytes.length; )
    at += (await current.handle.write(bytes, at, bytes.length - at)).bytesWritten;
}

async function endFile(spool: Spool): Promise<void> {
  const { current } = spool;
  if (current === undefined) return;
  const { path, file, handle, hash, size } = current;
  await handle.sync();
  await handle.close();
  delete spool.current;
  const replaced = spool.files.get(path);
  if (replaced !== undefined) await rm(replaced.file, { force: true });
  spool.files.set(path, { file, size, digest: `sha256:${hash.digest('hex')}` });
}

/** With or without gzip, by the first bytes. */
async function* decoded(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  const iterator = source[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done === true) return;
  const whole = async function* (): AsyncGenerator<Buffer, void> {
    yield first.value;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next())
      yield next.value;
  };
  const magic = first.value.toString('hex', 0, 4);
  if (magic === '28b52ffd')
    throw archiveError('the archive is compressed with zstd: uncompress it first, with zstd -d');
  if (!magic.startsWith('1f8b')) {
    yield* whole();
    return;
  }
  const gunzip = createGunzip({ chunkSize: 256 * 1024 });
  let bytes = 0;
  try {
    for await (const part of pipeline(Readable.from(whole()), gunzip, () => {})) {
      bytes += (part as Buffer).length;
      if (isBomb(gunzip.bytesWritten, bytes))
        throw archiveError(
          `the archive is probably a decompression bomb: ${bytes} bytes from ${gunzip.bytesWritten}`,
        );
      yield part as Buffer;
    }
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (!code.startsWith('Z_')) throw error;
    throw archiveError(`the archive is damaged: ${message}`, { cause: error });
  }
}
