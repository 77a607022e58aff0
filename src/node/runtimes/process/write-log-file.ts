// Writes the log of one run of a container: lines of its two streams, in rotated files.
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { type LogStream, logTime, maxPartLength, renderLogLine } from '../../logs/log-line.ts';

export type LogLimits = {
  readonly maxBytes: number;
  /** Including the current one. */
  readonly maxFiles: number;
};

/** The kubelet's defaults of containerLogMaxSize and containerLogMaxFiles. */
const defaultLogLimits: LogLimits = { maxBytes: 10 * 1024 * 1024, maxFiles: 5 };

export type LogFile = {
  readonly write: (stream: LogStream, bytes: Uint8Array) => void;
  /** Writes an incomplete last line, and closes. */
  readonly close: () => void;
};

export function openLogFile(
  path: string,
  { now, limits = defaultLogLimits }: { readonly now: () => number; readonly limits?: LogLimits },
): LogFile {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  let descriptor = openSync(path, 'a', 0o600);
  let size = 0;
  const streams = {
    stdout: { decoder: new StringDecoder('utf8'), rest: '' },
    stderr: { decoder: new StringDecoder('utf8'), rest: '' },
  };
  const append = (text: string): void => {
    if (size > 0 && size + text.length > limits.maxBytes) {
      closeSync(descriptor);
      rotate(path, now(), limits);
      descriptor = openSync(path, 'a', 0o600);
      size = 0;
    }
    size += writeSync(descriptor, text);
  };
  const line = (stream: LogStream, isWhole: boolean, text: string): string =>
    renderLogLine({ time: logTime(now()), stream, isWhole, text });
  return {
    write(stream, bytes) {
      const state = streams[stream];
      const lines = (state.rest + state.decoder.write(Buffer.from(bytes))).split('\n');
      state.rest = lines.pop() ?? '';
      let text = lines
        .flatMap((whole) => cut(whole).map((p) => line(stream, p.isWhole, p.text)))
        .join('');
      while (state.rest.length > maxPartLength) {
        text += line(stream, false, state.rest.slice(0, maxPartLength));
        state.rest = state.rest.slice(maxPartLength);
      }
      if (text !== '') append(text);
    },
    close() {
      for (const stream of ['stdout', 'stderr'] as const) {
        const { rest, decoder } = streams[stream];
        const text = rest + decoder.end();
        // Marked as partial: the program did not end the line.
        if (text !== '') append(line(stream, false, text));
      }
      closeSync(descriptor);
    },
  };
}

type Part = { readonly isWhole: boolean; readonly text: string };

function cut(text: string): readonly Part[] {
  const parts: Part[] = [];
  let rest = text;
  while (rest.length > maxPartLength) {
    parts.push({ isWhole: false, text: rest.slice(0, maxPartLength) });
    rest = rest.slice(maxPartLength);
  }
  return [...parts, { isWhole: true, text: rest }];
}

/** `0.log` becomes `0.log.001767225600000`, which sorts by time; the oldest files are deleted. */
function rotate(path: string, now: number, { maxFiles }: LogLimits): void {
  const last = Number(
    rotatedLogs(path)
      .at(-1)
      ?.slice(path.length + 1) ?? 0,
  );
  renameSync(path, `${path}.${String(Math.max(now, last + 1)).padStart(stampDigits, '0')}`);
  for (const old of rotatedLogs(path).slice(0, -(maxFiles - 1))) rmSync(old, { force: true });
}

const stampDigits = 15;

/** Rotated files of the log, oldest first. */
export function rotatedLogs(path: string): readonly string[] {
  const prefix = `${basename(path)}.`;
  return readdirSync(dirname(path))
    .filter((name) => name.startsWith(prefix))
    .sort()
    .map((name) => join(dirname(path), name));
}
