// Reads the log of a container: its tail, since a time, with timestamps, and followed.
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

/** Limits of the kubelet for a termination message from the log. */
const tailLines = 80;
const tailBytes = 2048;

const chunkBytes = 64 * 1024;

export function readLogTail(path: string): string {
  let text = '';
  for (const part of readLog(path, { tailLines, hasTimes: false })) text += part;
  return text.slice(-tailBytes);
}

/** The current content, part by part. */
export function* readLog(path: string, options: LogOptions): Generator<string> {
  const reader = openReader(path);
  try {
    yield* limitBytes(formatted(reader.lines(), options), options.limitBytes);
  } finally {
    reader.close();
  }
}

/** The current content, and new lines until the container has terminated or the signal aborts. */
export async function* followLog(
  path: string,
  options: LogOptions,
  {
    running,
    signal,
  }: { readonly running: RunningContainer | undefined; readonly signal: AbortSignal },
): AsyncGenerator<string> {
  const reader = openReader(path);
  const { tailLines: _end, ...rest } = options;
  const notifier = createNotifier(running, signal);
  try {
    yield* formatted(reader.lines(), options);
    let hasEnded = running === undefined;
    while (!signal.aborted) {
      // Checked before reading: output before the termination is still read.
      yield* formatted(reader.lines(), rest);
      if (hasEnded) return;
      hasEnded = await notifier.next();
    }
  } finally {
    notifier.stop();
    reader.close();
  }
}

/** Resolves after each output, with whether the container has terminated. */
function createNotifier(running: RunningContainer | undefined, signal: AbortSignal) {
  let wake = (): void => {};
  let isNotified = false;
  let hasEnded = signal.aborted;
  const notify = (): void => {
    isNotified = true;
    wake();
  };
  const end = (): void => {
    hasEnded = true;
    notify();
  };
  const stop = running?.onOutput(notify);
  void running?.ended.then(end);
  signal.addEventListener('abort', end, { once: true });
  return {
    async next(): Promise<boolean> {
      if (!isNotified)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      isNotified = false;
      return hasEnded;
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

function* formatted(lines: Iterable<string>, options: LogOptions): Generator<string> {
  const { tailLines: count } = options;
  const last: string[] = [];
  for (const line of lines) {
    const text = formatLine(line, options);
    if (text === undefined) continue;
    if (count === undefined) yield text;
    else last.push(text);
    if (last.length > (count ?? 0)) last.shift();
  }
  yield* last;
}

function formatLine(line: string, { since, hasTimes, stream }: LogOptions): string | undefined {
  const parsed = parseLogLine(line);
  if (parsed === undefined) return undefined;
  // Timestamps of equal length sort as text.
  if (since !== undefined && parsed.time < logTime(since)) return undefined;
  if (stream !== undefined && parsed.stream !== stream) return undefined;
  return `${hasTimes ? `${parsed.time} ` : ''}${parsed.text}${parsed.isWhole ? '\n' : ''}`;
}

function* limitBytes(parts: Iterable<string>, maxBytes: number | undefined): Generator<string> {
  let remaining = maxBytes ?? Number.POSITIVE_INFINITY;
  for (const part of parts) {
    if (remaining <= 0) return;
    const bytes = Buffer.from(part);
    yield bytes.length <= remaining ? part : bytes.toString('utf8', 0, remaining);
    remaining -= bytes.length;
  }
}
