// Time as parts see it: what it is, and being called later. Tests pass a clock that they move by hand.

export type Cancel = () => void;

export type Clock = {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Calls `run` once when the time has passed, unless it is cancelled before. */
  readonly after: (ms: number, run: () => void) => Cancel;
};

/** Node's timers hold no more than 31 bits; a longer wait fires early, and who waits looks at the clock again. */
const maxTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, Math.min(Math.max(ms, 0), maxTimerMs));
    return () => clearTimeout(timer);
  },
};

/** Resolves when the time has passed, or at once when the signal ends the wait. */
export function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    signal.addEventListener('abort', end, { once: true });
  });
}

/** Resolves when the signal comes, at once when it has. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
