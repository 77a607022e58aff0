// How long a job waits before it replaces pods that have failed. Upstream: pkg/controller/job/backoff_utils.go.
import type { Pod } from '../../kinds/pod/types.ts';
import { finishedTime, indexFailures } from './pod-state.ts';

/** Failures since the last success. */
export type BackOffRecord = { readonly failures: number; readonly lastFailure?: number };

const firstMs = 10_000;
const maxMs = 600_000;

/** The record after pods that have ended since. */
export function backOffAfter(
  record: BackOffRecord | undefined,
  succeeded: readonly Pod[],
  failed: readonly Pod[],
): BackOffRecord {
  const { failures = 0 } = record ?? {};
  const times = failed.map(finishedTime);
  if (succeeded.length === 0) {
    if (times.length === 0) return record ?? { failures: 0 };
    return { failures: failures + times.length, lastFailure: max(times) };
  }
  const lastSuccess = max(succeeded.map(finishedTime));
  const later = times.filter((time) => time > lastSuccess);
  return later.length === 0 ? { failures: 0 } : { failures: later.length, lastFailure: max(later) };
}

/** Without a spread: there may be many. */
const max = (times: readonly number[]): number =>
  times.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);

/** 0 when a pod may be created now. */
export function remainingMs({ failures, lastFailure }: BackOffRecord, now: number): number {
  if (failures === 0 || lastFailure === undefined) return 0;
  // Keeps the power finite.
  const wait = Math.min(firstMs * 2 ** Math.min(failures - 1, 20), maxMs);
  return Math.max(0, lastFailure + wait - now);
}

/** Of an index, whose last failed pod says how often it has failed. */
export function indexRemainingMs(lastFailed: Pod | undefined, now: number): number {
  if (lastFailed === undefined) return 0;
  const { counted, ignored } = indexFailures(lastFailed);
  const failures = counted + ignored + 1;
  return remainingMs({ failures, lastFailure: finishedTime(lastFailed) }, now);
}
