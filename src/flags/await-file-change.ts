// Waits for a change of a file. It is polled, because the files of a mounted ConfigMap change by replacing a symbolic link, which inotify
// on the file does not report.
import { readFile } from 'node:fs/promises';
import { type Clock, sleep } from '../host/clock.ts';

export type AwaitedFile = {
  readonly path: string;
  /** The contents that were read. */
  readonly text: string;
  readonly clock: Clock;
};

/** The file is small, so polling is cheap. */
const everyMs = 10_000;

/** Resolves to true when the contents changed, to false on abort. A file that cannot be read has not changed. */
export async function awaitFileChange(
  { path, text, clock }: AwaitedFile,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    await sleep(clock, everyMs, signal);
    if (signal.aborted) return false;
    const now = await readIfPossible(path);
    if (now !== undefined && now !== text) return true;
  }
}

/** Whatever the error, the previous contents remain in effect until others can be read. */
function readIfPossible(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}
