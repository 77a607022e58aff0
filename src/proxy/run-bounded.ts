// Runs a function on request with a minimum interval, and periodically: a single change is handled at once, a burst together
// (KPX-40). kube-proxy calls this a bounded frequency runner.
import type { Cancel, Clock } from '../host/clock.ts';

export type BoundedRun = {
  /** Something changed: run soon. The first run needs no request. */
  readonly request: () => void;
  /** Resolves after the signal, when the last run has finished. */
  readonly ended: Promise<void>;
};

export type BoundedRunOptions = {
  readonly clock: Clock;
  /** `change`: requested. `period`: check what was written, and do what is requested. False: failed, retry. */
  readonly run: (reason: 'change' | 'period') => Promise<boolean>;
  /** Between the end of one run and the start of the next; absent: in proportion to how long the run took. */
  readonly minIntervalMs?: number;
  /** Between periodic runs, however many requests come in between. */
  readonly maxIntervalMs: number;
};

/**
 * Runs of some milliseconds need not wait a second for each other: under constant changes they take a fifth of the time. 10 ms collect what
 * belongs together, such as the pods of a rollout; a second is what kube-proxy waits after every run.
 */
const intervalLimits = { timesLastRun: 4, minMs: 10, maxMs: 1000 };

/** Delay of the first retry. It doubles with each failure, up to the maximum interval. */
const firstRetryMs = 1000;

export function startBoundedRun(options: BoundedRunOptions, signal: AbortSignal): BoundedRun {
  const { clock, run, maxIntervalMs } = options;
  let minIntervalMs = options.minIntervalMs ?? intervalLimits.minMs;
  let isRequested = true;
  let isRunning = false;
  let failures = 0;
  let endedAt = Number.NEGATIVE_INFINITY;
  /** When the next periodic run is due. The first run writes everything and counts as one. */
  let periodicAt = Number.POSITIVE_INFINITY;
  let cancel: Cancel = () => {};
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });

  const startAt = (): number => {
    const retryMs = Math.min(firstRetryMs * 2 ** (failures - 1), maxIntervalMs);
    // A new change may resolve the failure: it does not wait for the retry.
    if (isRequested) return endedAt + minIntervalMs;
    return failures > 0 ? endedAt + retryMs : Math.max(periodicAt, endedAt + minIntervalMs);
  };
  const plan = (): void => {
    cancel();
    if (isRunning) return;
    if (signal.aborted) end();
    else cancel = clock.after(Math.max(startAt() - clock.now(), 0), () => void start());
  };
  const start = async (): Promise<void> => {
    // A change has precedence once. Under constant changes a periodic run would never come otherwise.
    const isOverdue = endedAt >= periodicAt;
    const reason = failures > 0 || (isRequested && !isOverdue) ? 'change' : 'period';
    isRequested = false;
    isRunning = true;
    const startedAt = clock.now();
    failures = (await run(reason)) ? 0 : failures + 1;
    isRunning = false;
    endedAt = clock.now();
    minIntervalMs = options.minIntervalMs ?? intervalAfter(endedAt - startedAt, failures);
    const next = endedAt + maxIntervalMs;
    periodicAt = reason === 'period' ? next : Math.min(periodicAt, next);
    plan();
  };

  signal.addEventListener('abort', plan, { once: true });
  plan();
  return {
    request() {
      if (isRequested) return;
      isRequested = true;
      if (!isRunning) plan();
    },
    ended,
  };
}

/** What fails is not repeated more often than every second, however many changes request it. */
function intervalAfter(runMs: number, failures: number): number {
  const { timesLastRun, minMs, maxMs } = intervalLimits;
  return failures > 0 ? maxMs : Math.min(Math.max(runMs * timesLastRun, minMs), maxMs);
}
