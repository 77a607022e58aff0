// Reads a file by pages, in chunks and into reused memory: neighbouring pages are mostly read one
// after another.
import { readSync } from 'node:fs';

/** What is wrong with a file, as the rest of a sentence that names it. */
export class PageError extends Error {}

/** Pages in a row. The bytes are valid until the next call. */
export type ReadPages = (page: number, count: number) => Buffer;

const chunkPages = 256;
const cachedChunks = 16;

export function createPageReader(
  descriptor: number,
  pageSize: number,
  filePages: number,
): ReadPages {
  const cache = new Map<number, Buffer>();
  const read = (page: number, count: number, into: Buffer): Buffer => {
    const length = Math.min(count, filePages - page) * pageSize;
    readSync(descriptor, into, 0, length, page * pageSize);
    return into.subarray(0, length);
  };
  const chunk = (number: number): Buffer => {
    const found = cache.get(number);
    if (found !== undefined) return found;
    const [oldest] = cache.size < cachedChunks ? [] : cache;
    if (oldest !== undefined) cache.delete(oldest[0]);
    const into = oldest?.[1] ?? Buffer.allocUnsafeSlow(chunkPages * pageSize);
    read(number * chunkPages, chunkPages, into);
    cache.set(number, into);
    return into;
  };
  return (page, count) => {
    if (page + count > filePages) throw new PageError(`it ends before page ${page + count - 1}`);
    const first = page % chunkPages;
    if (first + count > chunkPages) return read(page, count, Buffer.allocUnsafe(count * pageSize));
    const bytes = chunk(Math.floor(page / chunkPages));
    return bytes.subarray(first * pageSize, (first + count) * pageSize);
  };
}
