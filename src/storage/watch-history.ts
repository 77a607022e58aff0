// Watching by reading on: a watcher remembers how far it has read and reads further when something
// came. Nothing is queued for it, so a slow one costs no memory, and there is no seam between what was
// before the watch began and what came after.
import { assertKept, eventOf, type History } from './history.ts';
import type { StoreEvent } from './store.ts';

/** Events read at once; a revision is never cut, so a batch may hold a transaction's writes more. */
const batchSize = 500;

export type WatchRequest = {
  readonly prefix: string;
  readonly afterRevision: number;
  readonly signal: AbortSignal;
  readonly wakeUp: WakeUp;
};

export async function* watchHistory(
  history: History,
  { prefix, afterRevision, signal, wakeUp }: WatchRequest,
): AsyncGenerator<readonly StoreEvent[], void, undefined> {
  assertKept(history, afterRevision);
  let seen = afterRevision;
  while (!signal.aborted) {
    assertKept(history, seen);
    if (seen === history.revision) {
      await wakeUp.next(signal);
      continue;
    }
    const changes = history.log.readAfter(seen, history.revision, batchSize);
    seen = changes.at(-1)?.revision ?? history.revision;
    const events = changes
      .filter((change) => change.key.startsWith(prefix))
      .map((change) => eventOf(history.log, change));
    if (events.length > 0) yield events;
    // A long past without an event for this prefix must not hold up everyone else.
    else await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Lets many wait for the next time that something happens. */
export type WakeUp = {
  all(): void;
  /** Resolves at the next `all`, or when the signal aborts. */
  next(signal: AbortSignal): Promise<void>;
};

export function startWakeUp(): WakeUp {
  const sleepers = new Set<() => void>();
  return {
    all() {
      for (const wake of sleepers) wake();
      sleepers.clear();
    },
    next(signal) {
      return new Promise((resolve) => {
        const wake = (): void => {
          sleepers.delete(wake);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        sleepers.add(wake);
        signal.addEventListener('abort', wake);
      });
    },
  };
}
