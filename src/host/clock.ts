// The clock that parts use: the time, and timers. Tests pass a fake one.

export type Cancel = () => void;

export type Clock = {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Calls `run` once when the time has passed, unless it is cancelled before. */
  readonly after: (ms: number, run: () => void) => Cancel;
};

/** Node's timers have 31 bits. A longer one fires early, and its caller checks the clock again. */
const maxTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, Math.min(Math.max(ms, 0), maxTimerMs));
    return () => clearTimeout(timer);
  },
};

/** Resolves when the time has passed or the signal aborts. */
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

/** Resolves when the signal aborts, at once if it has. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
