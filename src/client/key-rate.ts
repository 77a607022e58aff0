// Limits how often one key is reconciled (a generic cell rate algorithm per key). A reconciler that is triggered by its own writes, or
// two that revert each other's, would otherwise use all the CPU time.

export type KeyRateLimits = {
  /** Reconciliations of one key in a row before the rate applies. */
  readonly burst: number;
  readonly perSecond: number;
};

export type KeyRate = {
  readonly started: (key: string, now: number) => void;
  /** How long the key must wait; 0: it may start now. */
  readonly waitMs: (key: string, now: number) => number;
  readonly size: () => number;
};

/** More than a key needs in a large rollout; an endless loop soon reaches the rate, where it costs little. */
const defaultKeyRate: KeyRateLimits = { burst: 200, perSecond: 100 };

/** From this many entries on, those that no longer limit their key are removed before one is added. */
const sweepAt = 1024;

export function createKeyRate({ burst, perSecond }: KeyRateLimits = defaultKeyRate): KeyRate {
  const intervalMs = 1000 / perSecond;
  const allowanceMs = burst * intervalMs;
  /** For each key the theoretical arrival time: when it would have started last at exactly its rate. */
  const nextAllowedAt = new Map<string, number>();
  let nextSweep = sweepAt;
  /** Bounded, so that a clock that was set back does not block a key for long. */
  const nextAllowedFor = (key: string, now: number): number =>
    Math.min(Math.max(nextAllowedAt.get(key) ?? now, now), now + allowanceMs + intervalMs);
  const sweep = (now: number): void => {
    if (nextAllowedAt.size < nextSweep) return;
    for (const [key, at] of nextAllowedAt) if (at <= now) nextAllowedAt.delete(key);
    nextSweep = Math.max(sweepAt, 2 * nextAllowedAt.size);
  };
  return {
    started(key, now) {
      sweep(now);
      nextAllowedAt.set(key, nextAllowedFor(key, now) + intervalMs);
    },
    waitMs: (key, now) => Math.max(0, Math.ceil(nextAllowedFor(key, now) - now - allowanceMs)),
    size: () => nextAllowedAt.size,
  };
}
