// Frames of the history in files of a directory. Nothing is synced: what a crash loses is read back from the store, which is durable.
// The store never depends on these files; damaged ones cost history and nothing else.

import { appendFile, mkdir, open, readdir, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import {
  decodeFrameHead,
  decodeFrameHeader,
  encodeFrame,
  type FrameHeader,
  frameHeadBytes,
} from './frames.ts';

export type StoredFrame = FrameHeader & {
  readonly file: string;
  /** Where the payload begins. */
  readonly at: number;
  readonly payloadBytes: number;
  readonly payloadCheck: number;
};

export type HistoryFiles = {
  /** Oldest first; each begins where the one before ends. */
  readonly frames: () => readonly StoredFrame[];
  readonly bytes: () => number;
  readonly append: (header: FrameHeader, payload: Buffer) => Promise<void>;
  /** Undefined when the frame was dropped or damaged meanwhile. */
  readonly readPayload: (frame: StoredFrame) => Promise<Buffer | undefined>;
  /** Drops files whose changes are all older. */
  readonly dropBefore: (timeMs: number) => Promise<void>;
  readonly clear: () => Promise<void>;
};

export type HistoryFilesOptions = {
  readonly directory: string;
  readonly maxBytes: number;
  /** Files are begun at least this often, as only whole files are dropped. */
  readonly maxFileMs: number;
  /** Of the cluster: the history of another one is dropped. */
  readonly cluster: string;
};

/** Whole files are dropped, so this is how much history is dropped at once. */
const filesPerDirectory = 16;
const minFileBytes = 64 * 1024;

type OpenFile = { readonly path: string; bytes: number; frames: StoredFrame[] };

export async function openHistoryFiles(options: HistoryFilesOptions): Promise<HistoryFiles> {
  const { directory, maxBytes, maxFileMs, cluster } = options;
  // Readable by its owner only, as the store: it holds the same objects.
  await mkdir(directory, { recursive: true, mode: 0o700 });
  let files = await readFiles(directory, cluster);
  const total = (): number => files.reduce((sum, { bytes }) => sum + bytes, 0);
  const maxFileBytes = Math.max(minFileBytes, maxBytes / filesPerDirectory);

  async function dropOldest(): Promise<void> {
    const [oldest, ...others] = files;
    files = others;
    if (oldest !== undefined) await rm(oldest.path, { force: true });
  }

  function fileFor(header: FrameHeader, length: number): OpenFile {
    const last = files.at(-1);
    const begun = last?.frames[0]?.from.timeMs ?? header.from.timeMs;
    const isFull = last !== undefined && last.bytes + length > maxFileBytes;
    if (last !== undefined && !isFull && Math.abs(header.to.timeMs - begun) < maxFileMs)
      return last;
    const path = join(directory, fileName(header.from.revision));
    // It has a frame without changes, which says where the history begins.
    if (last?.path === path) return last;
    const fresh = { path, bytes: 0, frames: [] };
    files = [...files, fresh];
    return fresh;
  }

  async function write(header: FrameHeader, payload: Buffer): Promise<void> {
    const frame = encodeFrame(header, payload);
    const file = fileFor(header, frame.length);
    const start = file.bytes === 0 ? fileHeader(cluster) : nothing;
    await appendFile(file.path, Buffer.concat([start, frame]), { mode: 0o600 });
    const end = file.bytes + start.length + frame.length;
    file.bytes = end;
    file.frames.push({
      ...{ ...header, file: file.path, at: end - payload.length },
      ...{ payloadBytes: payload.length, payloadCheck: crc32(payload) },
    });
  }

  return {
    frames: () => files.flatMap(({ frames }) => frames),
    bytes: total,
    async append(header, payload) {
      while (files.length > 1 && total() + payload.length > maxBytes) await dropOldest();
      try {
        await write(header, payload);
      } catch (error) {
        // A part of the frame may have been written: nothing can follow it.
        const broken = files.at(-1);
        if (broken !== undefined) await truncate(broken.path, broken.bytes).catch(ignoreMissing);
        if (!isFull(error) || files.length < 2) throw error;
        await dropOldest();
        await write(header, payload);
      }
    },
    async readPayload({ file, at, payloadBytes, payloadCheck }) {
      const bytes = await readBytes(file, at, payloadBytes);
      return bytes?.length === payloadBytes && crc32(bytes) === payloadCheck ? bytes : undefined;
    },
    async dropBefore(timeMs) {
      while (files.length > 1 && (files[0]?.frames.at(-1)?.to.timeMs ?? 0) < timeMs)
        await dropOldest();
    },
    async clear() {
      const all = files;
      files = [];
      for (const { path } of all) await rm(path, { force: true });
    },
  };
}

const nothing = Buffer.alloc(0);

const extension = '.history';
const fileName = (revision: number): string => `${String(revision).padStart(16, '0')}${extension}`;
const fileHeader = (cluster: string): Buffer =>
  Buffer.from(`${JSON.stringify({ format: 1, cluster })}\n`);

const isFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && ['ENOSPC', 'EDQUOT'].includes(String(error.code));

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
}

/** The files from the last gap on; the others are removed. */
async function readFiles(directory: string, cluster: string): Promise<OpenFile[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(extension)).sort();
  let files: OpenFile[] = [];
  for (const name of names) {
    const path = join(directory, name);
    const file = await readFrames(path, fileHeader(cluster));
    const begin = file?.frames[0]?.from.revision;
    const end = files.at(-1)?.frames.at(-1)?.to.revision;
    if (end !== undefined && begin !== end) {
      for (const before of files) await rm(before.path, { force: true });
      files = [];
    }
    if (file === undefined || begin === undefined) await rm(path, { force: true });
    else files.push(file);
  }
  return files;
}

/** Undefined for a file of another cluster or format. The frames up to the first damaged one; the rest is cut off. */
async function readFrames(path: string, start: Buffer): Promise<OpenFile | undefined> {
  const handle = await open(path, 'r+');
  const bytesAt = async (at: number, length: number): Promise<Buffer> => {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, at);
    return buffer.subarray(0, bytesRead);
  };
  try {
    const { size } = await handle.stat();
    if (!(await bytesAt(0, start.length)).equals(start)) return undefined;
    const frames: StoredFrame[] = [];
    let end = start.length;
    for (;;) {
      const head = await bytesAt(end, frameHeadBytes);
      const found = decodeFrameHead(head);
      if (found === undefined) break;
      const { headerBytes, payloadBytes, payloadCheck } = found;
      const at = end + frameHeadBytes + headerBytes;
      const header = decodeFrameHeader(head, await bytesAt(end + frameHeadBytes, headerBytes));
      if (header === undefined || at + payloadBytes > size) break;
      if (frames.length > 0 && frames.at(-1)?.to.revision !== header.from.revision) break;
      frames.push({ ...header, file: path, at, payloadBytes, payloadCheck });
      end = at + payloadBytes;
    }
    if (end < size) await handle.truncate(end);
    return { path, bytes: end, frames };
  } finally {
    await handle.close();
  }
}

async function readBytes(path: string, at: number, length: number): Promise<Buffer | undefined> {
  try {
    const handle = await open(path, 'r');
    try {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, at);
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (error) {
    ignoreMissing(error);
    return undefined;
  }
}
