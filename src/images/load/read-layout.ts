// An OCI layout as a directory.
import { constants, createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { maxManifestBytes } from '../parse-manifest.ts';
import type { ImageBlobs } from '../store/image-blobs.ts';
import { type ArchiveFiles, archiveError } from './archive-files.ts';

/** Links and pipes are no files of a layout. */
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export function openLayout(
  directory: string,
  blobs: ImageBlobs,
  signal: AbortSignal,
): ArchiveFiles {
  const sizeOf = async (path: string): Promise<number | undefined> => {
    try {
      const file = await open(join(directory, path), flags);
      const found = await file.stat();
      await file.close();
      return found.isFile() ? found.size : undefined;
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(code)) return undefined;
      throw error;
    }
  };
  const read = (path: string, start: number): AsyncIterable<Buffer> =>
    createReadStream(join(directory, path), { start, highWaterMark: 256 * 1024 });
  return {
    text: async (path) => {
      const size = await sizeOf(path);
      if (size === undefined) return undefined;
      if (size > maxManifestBytes) throw archiveError(`${path} has ${size} bytes, more than 4 MiB`);
      const parts: Buffer[] = [];
      for await (const part of read(path, 0)) parts.push(part);
      return Buffer.concat(parts).toString('utf8');
    },
    take: async (path, expected) => {
      const size = await sizeOf(path);
      if (size === undefined || expected === undefined) return undefined;
      if (size !== expected.size)
        throw archiveError(`${path} has ${size} bytes, want ${expected.size}`);
      await blobs.receive(
        { ...expected, what: 'layer', read: (offset) => read(path, offset) },
        signal,
      );
      return expected;
    },
    close: async () => {},
  };
}
