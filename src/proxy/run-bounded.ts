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
  /** `change`: it was asked for. `period`: nobody asked, look whether all is well. False: failed, try again. */
  readonly run: (reason: 'change' | 'period') => Promise<boolean>;
  /** Between the end of one run and the start of the next. */
  readonly minIntervalMs: number;
  /** Without a request it runs so often. */
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
  let cancel: Cancel = () => {};
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });

  const waitMs = (): number => {
    const retryMs = Math.min(firstRetryMs * 2 ** (failures - 1), maxIntervalMs);
    // A new change may be what mends a failure: it does not wait for the retry.
    const interval = isWanted ? minIntervalMs : failures > 0 ? retryMs : maxIntervalMs;
    return interval - (clock.now() - endedAt);
  };
  const plan = (): void => {
    cancel();
    if (isRunning) return;
    if (signal.aborted) end();
    else cancel = clock.after(Math.max(waitMs(), 0), () => void start());
  };
  const start = async (): Promise<void> => {
    const reason = isWanted || failures > 0 ? 'change' : 'period';
    isWanted = false;
    isRunning = true;
    failures = (await run(reason)) ? 0 : failures + 1;
    isRunning = false;
    endedAt = clock.now();
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
