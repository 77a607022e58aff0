// Writes audit lines to a file with rotation, or to standard output. Lines wait in a bounded buffer while the disk is
// busy; when the buffer is full they are dropped and counted, because a full disk must not stop the server.
import { type FileHandle, open, rename } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { Log } from '../../observe/log.ts';
import { backupName, removeOldBackups } from './rotate.ts';

export type AuditLog = {
  readonly write: (line: string) => void;
  /** Writes buffered lines, then closes. */
  readonly close: () => Promise<void>;
};

export type AuditLogOptions = {
  readonly path: string;
  /** A file that would grow beyond this is rotated; 0 is never. */
  readonly maxBytes: number;
  /** How many rotated files are retained; 0 is all. */
  readonly maxBackups: number;
  /** How long they are retained; 0 is forever. */
  readonly maxAgeDays: number;
  readonly now: () => number;
  readonly log: Log;
  readonly onDropped?: () => void;
  readonly maxBufferedBytes?: number;
};

/** Some seconds of a busy server at the highest level. */
const bufferedBytes = 16 * 1024 * 1024;
/** Bytes of one write; rotation happens between writes. */
const batchBytes = 256 * 1024;

type Target = {
  readonly write: (text: string) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Rejects when the file cannot be opened. */
export async function openAuditLog(options: AuditLogOptions): Promise<AuditLog> {
  const { log, onDropped = () => {}, maxBufferedBytes = bufferedBytes } = options;
  const target = options.path === '-' ? standardOutput : await openRotated(options);
  let lines: string[] = [];
  let waiting = 0;
  let running: Promise<void> | undefined;

  async function work(): Promise<void> {
    while (lines.length > 0) {
      const batch = takeBatch(lines);
      lines = lines.slice(batch.count);
      try {
        await target.write(batch.text);
      } catch (error) {
        log.error('Failed to write audit lines, dropping them', {
          lines: batch.count,
          error: (error as Error).message,
        });
        for (let lost = 0; lost < batch.count; lost += 1) onDropped();
      }
      waiting -= batch.text.length;
    }
    running = undefined;
  }

  return {
    write(line) {
      if (waiting + line.length > maxBufferedBytes) {
        onDropped();
        return;
      }
      lines.push(line);
      waiting += line.length;
      // Lines of the same iteration of the event loop are written together.
      running ??= new Promise<void>((resolve) => setImmediate(resolve)).then(work);
    },
    async close() {
      while (running !== undefined) await running;
      await target.close();
    },
  };
}

function takeBatch(lines: readonly string[]): { readonly text: string; readonly count: number } {
  let size = 0;
  let count = 0;
  while (count < lines.length && (count === 0 || size < batchBytes)) {
    size += lines[count]?.length ?? 0;
    count += 1;
  }
  return { text: lines.slice(0, count).join(''), count };
}

const standardOutput: Target = {
  write: (text) =>
    new Promise((resolve, reject) => {
      process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
    }),
  close: () => Promise.resolve(),
};

/** A file with rotation by size. */
export async function openRotated({
  path,
  maxBytes,
  maxBackups,
  maxAgeDays,
  now,
}: Omit<AuditLogOptions, 'log'>): Promise<Target> {
  const logFile = { directory: dirname(path), name: basename(path), extension: extname(path) };
  let file = await append(path);
  let size = (await file.stat()).size;

  async function rotate(): Promise<void> {
    await file.close();
    try {
      await rename(path, join(logFile.directory, backupName(logFile, now())));
    } finally {
      // Also when the rename has failed: further lines need an open file.
      file = await append(path);
      size = (await file.stat()).size;
    }
    await removeOldBackups(logFile, { maxBackups, maxAgeDays, now: now() });
  }

  return {
    async write(text) {
      const bytes = Buffer.from(text);
      if (maxBytes > 0 && size > 0 && size + bytes.length > maxBytes) await rotate();
      await file.appendFile(bytes);
      size += bytes.length;
    },
    close: () => file.close(),
  };
}

/** Readable by its owner only: it contains user names and requests. */
function append(path: string): Promise<FileHandle> {
  return open(path, 'a', 0o600);
}
