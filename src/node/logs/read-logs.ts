// Reads the log of a container as people ask for it: the end of it, since when, with times, and on as it grows.
import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { rotatedLogs } from '../runtimes/process/write-log-file.ts';
import type { RunningContainer } from '../runtimes/runtime.ts';
import { logTime, parseLogLine } from './log-line.ts';

export type LogOptions = {
  readonly tailLines?: number;
  /** Lines from this moment on; milliseconds since 1970. */
  readonly since?: number;
  readonly hasTimes: boolean;
  readonly limitBytes?: number;
  /** One stream only; both when absent. */
  readonly stream?: 'stdout' | 'stderr';
};

/** What a kubelet takes of a log as the last message of a container. */
const tailLines = 80;
const tailBytes = 2048;

const chunkBytes = 64 * 1024;

export function readLogTail(path: string): string {
  let text = '';
  for (const part of readLog(path, { tailLines, hasTimes: false })) text += part;
  return text.slice(-tailBytes);
}

/** What is there now, part by part. */
export function* readLog(path: string, wish: LogOptions): Generator<string> {
  const reader = openReader(path);
  try {
    yield* limited(shown(reader.lines(), wish), wish.limitBytes);
  } finally {
    reader.close();
  }
}

/** What is there, and what comes until the container has ended or the signal comes. */
export async function* followLog(
  path: string,
  wish: LogOptions,
  {
    running,
    signal,
  }: { readonly running: RunningContainer | undefined; readonly signal: AbortSignal },
): AsyncGenerator<string> {
  const reader = openReader(path);
  const { tailLines: _end, ...rest } = wish;
  const news = createNotifier(running, signal);
  try {
    yield* shown(reader.lines(), wish);
    let isOver = running === undefined;
    while (!signal.aborted) {
      // Asked before reading: what came before the end is still read.
      yield* shown(reader.lines(), rest);
      if (isOver) return;
      isOver = await news.next();
    }
  } finally {
    news.stop();
    reader.close();
  }
}

/** Resolves with whether the container has ended, after each thing it says. */
function createNotifier(running: RunningContainer | undefined, signal: AbortSignal) {
  let wake = (): void => {};
  let isNew = false;
  let isOver = signal.aborted;
  const tell = (): void => {
    isNew = true;
    wake();
  };
  const end = (): void => {
    isOver = true;
    tell();
  };
  const stop = running?.onOutput(tell);
  void running?.ended.then(end);
  signal.addEventListener('abort', end, { once: true });
  return {
    async next(): Promise<boolean> {
      if (!isNew)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      isNew = false;
      return isOver;
    },
    stop(): void {
      stop?.();
      signal.removeEventListener('abort', end);
    },
  };
}

type LogReader = {
  /** Whole lines from where the last call stopped. */
  readonly lines: () => Generator<string>;
  readonly close: () => void;
};

function openReader(path: string): LogReader {
  const older = existsSync(path) ? [...rotatedLogs(path)] : [];
  let descriptor: number | undefined;
  let rest = '';
  const open = (): number | undefined => {
    const next = older.shift() ?? path;
    return existsSync(next) ? openSync(next, 'r') : undefined;
  };
  const isLast = (at: number): boolean =>
    older.length === 0 && (!existsSync(path) || statSync(path).ino === fstatSync(at).ino);
  return {
    *lines() {
      const buffer = Buffer.alloc(chunkBytes);
      descriptor ??= open();
      while (descriptor !== undefined) {
        const size = readSync(descriptor, buffer);
        if (size === 0) {
          if (isLast(descriptor)) return;
          // The file was moved away when it had grown too large; the log goes on in the next one.
          closeSync(descriptor);
          descriptor = open();
          continue;
        }
        const lines = (rest + buffer.toString('latin1', 0, size)).split('\n');
        rest = lines.pop() ?? '';
        // Bytes until a line is whole: a chunk may end within a letter.
        for (const line of lines) yield Buffer.from(line, 'latin1').toString('utf8');
      }
    },
    close() {
      if (descriptor !== undefined) closeSync(descriptor);
    },
  };
}

function* shown(lines: Iterable<string>, wish: LogOptions): Generator<string> {
  const { tailLines: count } = wish;
  const last: string[] = [];
  for (const line of lines) {
    const text = shownLine(line, wish);
    if (text === undefined) continue;
    if (count === undefined) yield text;
    else last.push(text);
    if (last.length > (count ?? 0)) last.shift();
  }
  yield* last;
}

function shownLine(line: string, { since, hasTimes, stream }: LogOptions): string | undefined {
  const parsed = parseLogLine(line);
  if (parsed === undefined) return undefined;
  // Times of one length sort as text.
  if (since !== undefined && parsed.time < logTime(since)) return undefined;
  if (stream !== undefined && parsed.stream !== stream) return undefined;
  return `${hasTimes ? `${parsed.time} ` : ''}${parsed.text}${parsed.isWhole ? '\n' : ''}`;
}

function* limited(parts: Iterable<string>, maxBytes: number | undefined): Generator<string> {
  let left = maxBytes ?? Number.POSITIVE_INFINITY;
  for (const part of parts) {
    if (left <= 0) return;
    const bytes = Buffer.from(part);
    yield bytes.length <= left ? part : bytes.toString('utf8', 0, left);
    left -= bytes.length;
  }
}
