// Runs something when it is asked for, but not too often, and now and then unasked: one change is carried out at once,
// a storm of them together (KPX-40).
import type { Cancel, Clock } from '../host/clock.ts';

export type BoundedRun = {
  /** Something changed: run soon. The first run comes unasked, at once. */
  readonly request: () => void;
  /** Resolves when the signal has ended it and the last run is over. */
  readonly ended: Promise<void>;
};

export type BoundedRunOptions = {
  readonly clock: Clock;
  /** `change`: it was asked for. `period`: look whether all is well, and do what is asked for. False: failed, try again. */
  readonly run: (reason: 'change' | 'period') => Promise<boolean>;
  /** Between the end of one run and the start of the next. */
  readonly minIntervalMs: number;
  /** So often it looks, however much is asked for in between. */
  readonly maxIntervalMs: number;
};

/** A failure is tried again after this long, then twice as long each time, up to the longest interval. */
const firstRetryMs = 1000;

export function startBoundedRun(options: BoundedRunOptions, signal: AbortSignal): BoundedRun {
  const { clock, run, minIntervalMs, maxIntervalMs } = options;
  let isWanted = true;
  let isRunning = false;
  let failures = 0;
  let endedAt = Number.NEGATIVE_INFINITY;
  /** After the first run, which writes everything, and after each look. */
  let lookAt = Number.POSITIVE_INFINITY;
  let cancel: Cancel = () => {};
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });

  const startAt = (): number => {
    const retryMs = Math.min(firstRetryMs * 2 ** (failures - 1), maxIntervalMs);
    // A new change may be what mends a failure: it does not wait for the retry.
    if (isWanted) return endedAt + minIntervalMs;
    return failures > 0 ? endedAt + retryMs : Math.max(lookAt, endedAt + minIntervalMs);
  };
  const plan = (): void => {
    cancel();
    if (isRunning) return;
    if (signal.aborted) end();
    else cancel = clock.after(Math.max(startAt() - clock.now(), 0), () => void start());
  };
  const start = async (): Promise<void> => {
    // A change goes first, once: where changes never end, a look would never come.
    const isLate = endedAt >= lookAt;
    const reason = failures > 0 || (isWanted && !isLate) ? 'change' : 'period';
    isWanted = false;
    isRunning = true;
    failures = (await run(reason)) ? 0 : failures + 1;
    isRunning = false;
    endedAt = clock.now();
    const next = endedAt + maxIntervalMs;
    lookAt = reason === 'period' ? next : Math.min(lookAt, next);
    plan();
  };

  signal.addEventListener('abort', plan, { once: true });
  plan();
  return {
    request() {
      if (isWanted) return;
      isWanted = true;
      if (!isRunning) plan();
    },
    ended,
  };
}
