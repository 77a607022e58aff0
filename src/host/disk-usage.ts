// The disk usage of a directory that pods can write to: by descriptors, so that symbolic links cannot lead out of it, and within one
// file system.
import { constants, fstatSync, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, opendir } from 'node:fs/promises';
import { join } from 'node:path';

/** Deeper directories are not counted, because each level holds a descriptor. */
const maxDepth = 60;
/** More entries are not counted, so that one volume cannot keep the agent busy. */
const maxEntries = 500_000;
const blockBytes = 512;
const openFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

type Count = {
  readonly device: number;
  readonly linked: Set<number>;
  bytes: number;
  entries: number;
};

/** Stops counting above the limit. 0 if the path does not exist. */
export async function diskUsage(path: string, limitBytes: number): Promise<number> {
  const top = await openDirectory(path);
  if (top === undefined) return 0;
  try {
    const count: Count = { device: fstatSync(top.fd).dev, linked: new Set(), bytes: 0, entries: 0 };
    await countIn(top, 0, count, limitBytes);
    return count.bytes;
  } finally {
    await top.close();
  }
}

async function countIn(
  directory: FileHandle,
  depth: number,
  count: Count,
  limitBytes: number,
): Promise<void> {
  const path = `/proc/self/fd/${directory.fd}`;
  for await (const { name } of await opendir(path)) {
    count.entries += 1;
    if (count.bytes > limitBytes || count.entries > maxEntries) return;
    const child = join(path, name);
    const found = await ifReadable(lstat(child));
    if (found === undefined || found.dev !== count.device) continue;
    addEntry(found, count);
    if (found.isDirectory() && depth < maxDepth)
      await countBelow(child, depth + 1, count, limitBytes);
  }
}

async function countBelow(
  path: string,
  depth: number,
  count: Count,
  limitBytes: number,
): Promise<void> {
  const below = await openDirectory(path);
  if (below === undefined) return;
  try {
    if (fstatSync(below.fd).dev === count.device) await countIn(below, depth, count, limitBytes);
  } finally {
    await below.close();
  }
}

/** Hard links to one file count once. */
function addEntry(found: Stats, count: Count): void {
  const isLinked = found.nlink > 1 && !found.isDirectory();
  if (isLinked && count.linked.has(found.ino)) return;
  if (isLinked) count.linked.add(found.ino);
  count.bytes += found.blocks * blockBytes;
}

const openDirectory = (path: string): Promise<FileHandle | undefined> =>
  ifReadable(open(path, openFlags));

/** Undefined if the entry was deleted or became a link since it was listed, or if its owner denies access. */
async function ifReadable<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES'].includes(code)) return undefined;
    throw error;
  }
}
