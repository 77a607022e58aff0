// AWS is eventually consistent: tracks which keys have writes that may not be visible yet.
import { type Clock, sleep } from '../../../host/clock.ts';

export type Settling = {
  /** Waits until all that was written for the key, also by a process before this one, must be visible. */
  readonly waitFor: (key: string, signal: AbortSignal) => Promise<void>;
  /** AWS may have done the write at any time until it has ended, well or not. */
  readonly write: <T>(key: string, act: () => Promise<T>) => Promise<T>;
  /** What was written has been seen. */
  readonly confirmed: (key: string) => void;
  /** Nothing was confirmed since the process started, or something written since: what is there has to be searched for. */
  readonly isUnsure: (key: string) => boolean;
  /** What is read from then on shows all that was written for the key. */
  readonly settledAt: (key: string) => number;
  readonly forget: (key: string) => void;
};

export function createSettling(clock: Clock, settleMs: number): Settling {
  const startedAt = clock.now();
  /** Absent: not known in this process. */
  const lastWrites = new Map<string, number>();
  const surely = Number.NEGATIVE_INFINITY;
  const settledAt = (key: string): number => (lastWrites.get(key) ?? startedAt) + settleMs;
  return {
    settledAt,
    async waitFor(key, signal) {
      const waitMs = settledAt(key) - clock.now();
      if (waitMs > 0) await sleep(clock, waitMs, signal);
      signal.throwIfAborted();
    },
    async write(key, act) {
      try {
        return await act();
      } finally {
        lastWrites.set(key, clock.now());
      }
    },
    confirmed: (key) => void lastWrites.set(key, surely),
    isUnsure: (key) => lastWrites.get(key) !== surely,
    forget: (key) => void lastWrites.delete(key),
  };
}
