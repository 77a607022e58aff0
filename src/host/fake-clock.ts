// A clock for tests, which advances only when the test says so.
import type { Clock } from './clock.ts';

export type FakeClock = Clock & {
  /** Advances the time, runs due timers in order, and lets promises settle between them. */
  readonly advance: (ms: number) => Promise<void>;
  /** Lets promises settle without advancing the time. */
  readonly settle: () => Promise<void>;
  /** How many timers are pending. */
  readonly waiting: () => number;
};

type Timer = { readonly at: number; readonly run: () => void };

/** Enough for chains of promises through streams and queues. */
const settleRounds = 20;

export function createFakeClock(start = 0): FakeClock {
  const timers = new Set<Timer>();
  let time = start;
  const settle = async (): Promise<void> => {
    for (let round = 0; round < settleRounds; round += 1) {
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  };
  const next = (until: number): Timer | undefined => {
    let first: Timer | undefined;
    for (const timer of timers) {
      if (timer.at <= until && (first === undefined || timer.at < first.at)) first = timer;
    }
    return first;
  };
  return {
    now: () => time,
    after(ms, run) {
      const timer = { at: time + Math.max(ms, 0), run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async advance(ms) {
      const until = time + ms;
      await settle();
      for (let timer = next(until); timer !== undefined; timer = next(until)) {
        timers.delete(timer);
        time = timer.at;
        timer.run();
        await settle();
      }
      time = until;
    },
    settle,
    waiting: () => timers.size,
  };
}
