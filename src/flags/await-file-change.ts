// Notices that a file says something else than when it was read. Read again now and then, because the file of a ConfigMap is changed by
// exchanging what a link leads to, of which not every machine tells.
import { readFile } from 'node:fs/promises';
import { type Clock, sleep } from '../host/clock.ts';

export type AwaitedFile = {
  readonly path: string;
  /** What it said. */
  readonly text: string;
  readonly clock: Clock;
};

/** A small file. */
const everyMs = 10_000;

/** Resolves with true when it changed, with false when the signal ended it. A file that cannot be read has not changed. */
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

/** Whatever keeps it from being read now: what it said stands until it says something else. */
function readIfPossible(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}
