// Timeouts of requests. All of them have the same length, so entries expire in the order in which they were added, and one
// timer is enough for all; adding and removing an entry costs next to nothing.
import { createLinkedQueue, type QueueEntry } from '../../host/linked-queue.ts';

/** Identifies an entry when it is removed. */
export type Deadline<T> = QueueEntry<Timed<T>>;

type Timed<T> = {
  readonly value: T;
  /** The tick of the timer in which it was added. */
  readonly addedAt: number;
};

export type Deadlines<T> = {
  /** Undefined where there is no limit. */
  readonly add: (value: T) => Deadline<T> | undefined;
  /** Does nothing for an entry that was removed or has expired. */
  readonly remove: (deadline: Deadline<T>) => void;
};

export type DeadlineOptions<T> = {
  /** 0 is no limit. */
  readonly afterMs: number;
  readonly expire: (value: T) => void;
};

/** The precision of timeouts; a timer for each request would cost more than the request. */
const ticksPerTimeout = 20;

export function createDeadlines<T>({ afterMs, expire }: DeadlineOptions<T>): Deadlines<T> {
  if (afterMs === 0) return { add: () => undefined, remove: () => {} };
  const queue = createLinkedQueue<Timed<T>>();
  let currentTick = 0;
  let isTicking = false;

  function tick(): void {
    currentTick += 1;
    // One tick later than the timeout: an entry that was added at the end of a tick has its full time too.
    for (let entry = queue.first(); entry !== undefined; entry = queue.first()) {
      if (entry.value.addedAt + ticksPerTimeout >= currentTick) break;
      queue.remove(entry);
      expire(entry.value.value);
    }
    isTicking = queue.size() > 0;
    if (isTicking) scheduleTick();
  }

  const scheduleTick = (): void => void setTimeout(tick, afterMs / ticksPerTimeout).unref();

  return {
    add(value) {
      const entry = queue.add({ value, addedAt: currentTick });
      if (!isTicking) {
        isTicking = true;
        scheduleTick();
      }
      return entry;
    },
    remove: queue.remove,
  };
}
