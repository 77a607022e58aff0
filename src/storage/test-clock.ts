// A clock for tests of timers.
import type { StoreClock } from './expiry.ts';

/** Advances only by `advance`. */
export type TestClock = Required<StoreClock> & { readonly advance: (ms: number) => void };

export function createTestClock(startMs = 1_700_000_000_000): TestClock {
  let nowMs = startMs;
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  return {
    now: () => nowMs,
    setTimer(callback, delayMs) {
      const timer = { at: nowMs + delayMs, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(ms) {
      nowMs += ms;
      for (const timer of timers) {
        if (timer.at <= nowMs && timers.delete(timer)) timer.callback();
      }
    },
  };
}
