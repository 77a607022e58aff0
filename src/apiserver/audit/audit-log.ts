// Where audit lines go: a file that is rotated when it has grown, or standard output. Lines wait in a bounded buffer
// while the disk is busy; when it is full they are dropped and counted, because a full disk must not stop the server.
import { type FileHandle, open, rename } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { Log } from '../../observe/log.ts';
import { backupName, removeOldBackups } from './rotate.ts';

export type AuditLog = {
  readonly write: (line: string) => void;
  /** Writes what waits, then closes. */
  readonly close: () => Promise<void>;
};

export type AuditLogOptions = {
  readonly path: string;
  /** A file that would grow beyond this is set aside; 0 is never. */
  readonly maxBytes: number;
  /** How many that were set aside are kept; 0 is all. */
  readonly maxBackups: number;
  /** How long they are kept; 0 is for ever. */
  readonly maxAgeDays: number;
  readonly now: () => number;
  readonly log: Log;
  readonly onDropped?: () => void;
  readonly maxBufferedBytes?: number;
};

/** Some seconds of a busy server at the highest level. */
const bufferedBytes = 16 * 1024 * 1024;
/** What is written in one go; rotation looks between the goes. */
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
        log.error('audit lines lost', { lines: batch.count, error: (error as Error).message });
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
      // What the same turn of the loop adds goes in the same write.
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

/** A file that is set aside when it has grown. */
export async function openRotated({
  path,
  maxBytes,
  maxBackups,
  maxAgeDays,
  now,
}: Omit<AuditLogOptions, 'log'>): Promise<Target> {
  const place = { directory: dirname(path), name: basename(path), extension: extname(path) };
  let file = await append(path);
  let size = (await file.stat()).size;

  async function rotate(): Promise<void> {
    await file.close();
    try {
      await rename(path, join(place.directory, backupName(place, now())));
    } finally {
      // Also where it could not be set aside: the lines to come must go somewhere.
      file = await append(path);
      size = (await file.stat()).size;
    }
    await removeOldBackups(place, { maxBackups, maxAgeDays, now: now() });
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

/** Readable by its owner only: it tells who is who. */
function append(path: string): Promise<FileHandle> {
  return open(path, 'a', 0o600);
}
