// Watches by reading the log: a watcher remembers the revision it has read and reads on when there are new
// changes. Nothing is queued for it, so a slow one costs no memory, and there is no seam between past
// and future changes.
import { assertRetained, eventOf, type History } from './history.ts';
import type { StoreEvent } from './store.ts';

/** Events read at once; a revision is never split, so a batch may be larger by the writes of a transaction. */
const batchSize = 500;

export type WatchRequest = {
  readonly prefix: string;
  readonly afterRevision: number;
  readonly signal: AbortSignal;
  readonly changed: Condition;
};

export async function* watchHistory(
  history: History,
  { prefix, afterRevision, signal, changed }: WatchRequest,
): AsyncGenerator<readonly StoreEvent[], void, undefined> {
  assertRetained(history, afterRevision);
  let readRevision = afterRevision;
  while (!signal.aborted) {
    assertRetained(history, readRevision);
    if (readRevision === history.revision) {
      await changed.wait(signal);
      continue;
    }
    const changes = history.log.readAfter(readRevision, history.revision, batchSize);
    readRevision = changes.at(-1)?.revision ?? history.revision;
    const events = changes
      .filter((change) => change.key.startsWith(prefix))
      .map((change) => eventOf(history.log, change));
    if (events.length > 0) yield events;
    // A long history without an event for this prefix must not block the event loop.
    else await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A condition variable. */
export type Condition = {
  notifyAll(): void;
  /** Resolves at the next `notifyAll`, or when the signal aborts. */
  wait(signal: AbortSignal): Promise<void>;
};

export function createCondition(): Condition {
  const waiters = new Set<() => void>();
  return {
    notifyAll() {
      for (const wake of waiters) wake();
      waiters.clear();
    },
    wait(signal) {
      return new Promise((resolve) => {
        const wake = (): void => {
          waiters.delete(wake);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        waiters.add(wake);
        signal.addEventListener('abort', wake);
      });
    },
  };
}
