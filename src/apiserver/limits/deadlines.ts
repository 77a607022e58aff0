// Ends what takes too long. All entries have the same time, so the one that came first is the first to end, and one
// timer is enough for all; entering and leaving costs next to nothing.

export type Deadlines<T> = {
  readonly add: (entry: T) => void;
  readonly delete: (entry: T) => void;
};

export type DeadlineOptions<T> = {
  /** 0 is no limit. */
  readonly afterMs: number;
  readonly expire: (entry: T) => void;
};

/** How exact the ends are; a timer for each request would be costlier than the request. */
const coarseness = 20;

export function createDeadlines<T>({ afterMs, expire }: DeadlineOptions<T>): Deadlines<T> {
  if (afterMs === 0) return { add: () => {}, delete: () => {} };
  /** By the round of the timer in which it came. */
  let fresh = new Set<T>();
  const rounds: Set<T>[] = [fresh];
  let isTicking = false;
  let held = 0;

  function tick(): void {
    fresh = new Set();
    rounds.push(fresh);
    // One more than the time is long: what came at the end of a round has its full time too.
    const late = rounds.length > coarseness + 1 ? rounds.shift() : undefined;
    for (const entry of late ?? []) {
      held -= 1;
      expire(entry);
    }
    isTicking = held > 0;
    if (isTicking) wait();
  }

  const wait = (): void => void setTimeout(tick, afterMs / coarseness).unref();

  return {
    add(entry) {
      fresh.add(entry);
      held += 1;
      if (isTicking) return;
      isTicking = true;
      wait();
    },
    delete(entry) {
      // Most end in the round in which they came.
      for (let at = rounds.length - 1; at >= 0; at -= 1) {
        if (rounds[at]?.delete(entry)) {
          held -= 1;
          return;
        }
      }
    },
  };
}
