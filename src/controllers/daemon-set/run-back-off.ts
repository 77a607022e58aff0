// How long the failed pods of a node are left alone, so that a set and a node that refuses its pods do not work against each other without
// end. Upstream: flowcontrol.Backoff in pkg/controller/daemon.
import { backOffMs } from '../../client/back-off.ts';
import type { Clock } from '../../host/clock.ts';

export type FailureBackOff = {
  readonly remainingMs: (key: string) => number;
  /** To be called when the failed pod is deleted. */
  readonly failed: (key: string) => void;
};

const limits = { firstMs: 1000, maxMs: 15 * 60_000 };
/** A node without failures for this long starts anew. */
const forgottenAfterMs = 2 * limits.maxMs;
/** Entries that have expired are removed when there are this many: one for each set and node with failures. */
const sweepAt = 10_000;

type Entry = { readonly failures: number; readonly at: number };

export function createFailureBackOff(clock: Clock): FailureBackOff {
  const entries = new Map<string, Entry>();
  const present = (key: string): Entry | undefined => {
    const entry = entries.get(key);
    return entry === undefined || clock.now() - entry.at > forgottenAfterMs ? undefined : entry;
  };
  return {
    remainingMs(key) {
      const entry = present(key);
      if (entry === undefined) return 0;
      return Math.max(0, entry.at + backOffMs(limits, entry.failures - 1) - clock.now());
    },
    failed(key) {
      const failures = (present(key)?.failures ?? 0) + 1;
      entries.set(key, { failures, at: clock.now() });
      if (entries.size < sweepAt) return;
      for (const other of entries.keys()) if (present(other) === undefined) entries.delete(other);
    },
  };
}
