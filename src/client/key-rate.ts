// How often one key may be worked on. A reconciler whose own writes wake it again, or two that undo each other's, would
// take all the time there is; so each key has a rate, with room for bursts.

export type KeyRateLimits = {
  /** Works on one key in a row, before the rate holds. */
  readonly burst: number;
  readonly perSecond: number;
};

export type KeyRate = {
  readonly started: (key: string, now: number) => void;
  /** How long the key has to wait; 0 for not at all. */
  readonly waitMs: (key: string, now: number) => number;
  readonly size: () => number;
};

/** What a key needs in a large rollout is less; what goes round without end soon comes to the rate, and costs little there. */
const defaultKeyRate: KeyRateLimits = { burst: 200, perSecond: 100 };

/** Keys that were worked on lately are kept in mind; from this many on, those that are free again are dropped first. */
const sweepAt = 1024;

export function createKeyRate({ burst, perSecond }: KeyRateLimits = defaultKeyRate): KeyRate {
  const intervalMs = 1000 / perSecond;
  const allowanceMs = burst * intervalMs;
  /** For each key, when it would have been worked on last, had it kept to the rate. */
  const debts = new Map<string, number>();
  let nextSweep = sweepAt;
  /** A clock that was set back must not lock a key for long. */
  const debtOf = (key: string, now: number): number =>
    Math.min(Math.max(debts.get(key) ?? now, now), now + allowanceMs + intervalMs);
  const sweep = (now: number): void => {
    if (debts.size < nextSweep) return;
    for (const [key, at] of debts) if (at <= now) debts.delete(key);
    nextSweep = Math.max(sweepAt, 2 * debts.size);
  };
  return {
    started(key, now) {
      sweep(now);
      debts.set(key, debtOf(key, now) + intervalMs);
    },
    waitMs: (key, now) => Math.max(0, Math.ceil(debtOf(key, now) - now - allowanceMs)),
    size: () => debts.size,
  };
}
