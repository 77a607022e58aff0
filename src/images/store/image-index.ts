// The list of images of a store: one small file, replaced as a whole, so that it is the old or the new one whenever a process ends.
import { randomUUID } from 'node:crypto';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ImageError } from '../image-error.ts';

export type StoredLayer = {
  readonly diffId: string;
  /** Of the blob. */
  readonly digest: string;
  readonly size: number;
};

export type StoredImage = {
  /** Digest of the configuration, which is a blob too. */
  readonly id: string;
  readonly names: readonly string[];
  readonly digests: readonly string[];
  readonly configBytes: number;
  readonly layers: readonly StoredLayer[];
  readonly pulledAt: number;
};

export type ImageIndex = { readonly images: readonly StoredImage[] };

/** More than a machine uses; each takes about 2 KiB in the file, and parsing 16 MiB some 50 ms. */
export const maxImages = 2000;
const maxIndexBytes = 16 * 2 ** 20;
const format = 1;

export type IndexFile = {
  /** The newest; read again only when the file has changed. */
  readonly read: () => Promise<ImageIndex>;
  /** The caller holds the lock of the store. */
  readonly write: (index: ImageIndex) => Promise<void>;
};

export function openIndexFile(path: string): IndexFile {
  let cached: { readonly stamp: string; readonly index: ImageIndex } | undefined;
  return {
    read: async () => {
      const stamp = await stampOf(path);
      if (stamp === undefined) return { images: [] };
      if (cached?.stamp === stamp) return cached.index;
      const index = parseIndex(await readFile(path, 'utf8'), path);
      cached = { stamp, index };
      return index;
    },
    write: async (index) => {
      cached = undefined;
      await replaceFile(path, JSON.stringify({ version: format, ...index }));
    },
  };
}

/** Undefined if there is no file. */
async function stampOf(path: string): Promise<string | undefined> {
  const found = await stat(path, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (found === undefined) return undefined;
  if (found.size > maxIndexBytes) throw damaged(path, `it has ${found.size} bytes`);
  return `${found.ino} ${found.size} ${found.mtimeNs}`;
}

function parseIndex(text: string, path: string): ImageIndex {
  let value: { version?: unknown; images?: unknown };
  try {
    value = JSON.parse(text) as typeof value;
  } catch (cause) {
    throw damaged(path, 'it is not JSON', { cause });
  }
  if (value.version !== format || !Array.isArray(value.images))
    throw damaged(path, `it has version ${JSON.stringify(value.version)}, want ${format}`);
  return { images: value.images as readonly StoredImage[] };
}

const damaged = (path: string, why: string, options?: ErrorOptions): ImageError =>
  new ImageError(
    'ErrImagePull',
    'FailedPrecondition',
    `cannot read the list of images "${path}": ${why}. Move its directory away, and pull the images again`,
    options,
  );

/** What a process that was killed while it wrote the list has left. */
export const isTemporary = (name: string): boolean => name.endsWith('.new');

/** Durable when it returns. */
async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}.new`;
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
    await file.close();
    await rename(temporary, path);
  } catch (error) {
    await file.close().catch(() => {});
    await rm(temporary, { force: true });
    throw error;
  }
  await syncDirectory(dirname(path));
}

export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
