// Ends what takes too long. All entries have the same time, so the one that came first is the first to end, and one
// timer is enough for all; entering and leaving costs next to nothing.
import { createLinkedQueue, type QueueEntry } from '../../host/linked-queue.ts';

/** What one who has entered leaves with. */
export type Deadline<T> = QueueEntry<Entered<T>>;

type Entered<T> = {
  readonly entry: T;
  /** Of the timer, in which it came. */
  readonly round: number;
};

export type Deadlines<T> = {
  /** Undefined where there is no limit. */
  readonly add: (entry: T) => Deadline<T> | undefined;
  /** Fine when it has left, or its time is over. */
  readonly leave: (deadline: Deadline<T>) => void;
};

export type DeadlineOptions<T> = {
  /** 0 is no limit. */
  readonly afterMs: number;
  readonly expire: (entry: T) => void;
};

/** How exact the ends are; a timer for each request would be costlier than the request. */
const coarseness = 20;

export function createDeadlines<T>({ afterMs, expire }: DeadlineOptions<T>): Deadlines<T> {
  if (afterMs === 0) return { add: () => undefined, leave: () => {} };
  const line = createLinkedQueue<Entered<T>>();
  let round = 0;
  let isTicking = false;

  function tick(): void {
    round += 1;
    // One round more than the time is long: what came at the end of a round has its full time too.
    for (let place = line.first(); place !== undefined; place = line.first()) {
      if (place.value.round + coarseness >= round) break;
      line.remove(place);
      expire(place.value.entry);
    }
    isTicking = line.size() > 0;
    if (isTicking) wait();
  }

  const wait = (): void => void setTimeout(tick, afterMs / coarseness).unref();

  return {
    add(entry) {
      const place = line.add({ entry, round });
      if (!isTicking) {
        isTicking = true;
        wait();
      }
      return place;
    },
    leave: line.remove,
  };
}
