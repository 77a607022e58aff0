// How much disk a directory takes that somebody else writes into: by descriptors, so that no link leads elsewhere, and not beyond
// the file system that it is in.
import { constants, fstatSync, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, opendir } from 'node:fs/promises';
import { join } from 'node:path';

/** Deeper directories are not counted: each level takes a descriptor. */
const maxDepth = 60;
/** More entries are not counted: whoever has so many small files pays for the largest ones first met. */
const maxEntries = 500_000;
const blockBytes = 512;
const listed = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

type Count = {
  readonly device: number;
  readonly linked: Set<number>;
  bytes: number;
  entries: number;
};

/** Stops counting when it is over the limit. Fine when nothing is there. */
export async function diskUsage(path: string, limitBytes: number): Promise<number> {
  const top = await opened(path);
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
    const found = await ifThere(lstat(child));
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
  const below = await opened(path);
  if (below === undefined) return;
  try {
    if (fstatSync(below.fd).dev === count.device) await countIn(below, depth, count, limitBytes);
  } finally {
    await below.close();
  }
}

/** What has several names takes its place once. */
function addEntry(found: Stats, count: Count): void {
  const isLinked = found.nlink > 1 && !found.isDirectory();
  if (isLinked && count.linked.has(found.ino)) return;
  if (isLinked) count.linked.add(found.ino);
  count.bytes += found.blocks * blockBytes;
}

const opened = (path: string): Promise<FileHandle | undefined> => ifThere(open(path, listed));

/** It may have gone, or become a link, since it was named; and its owner may have shut it. */
async function ifThere<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES'].includes(code)) return undefined;
    throw error;
  }
}
