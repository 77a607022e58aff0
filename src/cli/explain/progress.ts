// What a command that explains is waiting for: shown at a terminal after a second, and gone when it ends. What is not for people, and an
// error that is one sentence, have no such text beside them.
import type { World } from '../../flags/command.ts';

/** Shorter waits are not mentioned. */
const quietMs = 1000;
/** To the first column, and all of it erased. */
const eraseLine = '\r\u001b[2K';

export async function withProgress<T>(
  { writeError, terminal }: Pick<World, 'writeError' | 'terminal'>,
  what: string,
  work: Promise<T>,
): Promise<T> {
  if (terminal === undefined) return work;
  let isShown = false;
  const timer = setTimeout(() => {
    isShown = true;
    writeError(`  ${what}...`);
  }, quietMs);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
    if (isShown) writeError(eraseLine);
  }
}
