// Counts pods that have ended, each exactly once: first its UID (or its index) enters the status, then its finalizer is removed, then it
// moves to the counters. Upstream: trackJobStatusAndRemoveFinalizers() in pkg/controller/job.
import { countIndexes, formatIndexes, hasIndex } from '../../kinds/job/indexes.ts';
import type { JobStatus, UncountedPods } from '../../kinds/job/types.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { matchFailurePolicy } from './failure-policy.ts';
import { completionIndex, isPodFailed, isTracked } from './pod-state.ts';
import type { Verdict } from './verdict.ts';
import { type JobView, validIndex } from './view.ts';

/** Keeps the status small and a sync short, as upstream: a UID takes 40 bytes. */
const maxUncounted = 500;

export type CountPlan = {
  /** Stored before finalizers are removed. */
  readonly status: JobStatus;
  /** Pods whose finalizer can then go. */
  readonly release: readonly Pod[];
  /** There are more than one sync counts. */
  readonly isPartial: boolean;
};

/** `status`: with everything but the counters, which this adds. */
export function planCounts(
  view: JobView,
  status: JobStatus,
  verdict: Verdict | undefined,
): CountPlan {
  const tracked = new Set(view.pods.filter(isTracked).map(({ metadata }) => metadata.uid ?? ''));
  const cleaned = countReleased(status, tracked);
  const { succeeded: wereSucceeded = [], failed: wereFailed = [] } =
    cleaned.uncountedTerminatedPods ?? {};
  const counting: Counting = {
    succeeded: [...wereSucceeded],
    failed: [...wereFailed],
    indexes: [],
  };
  const release: Pod[] = [];
  let isPartial = false;
  for (const pod of releasable(view, verdict)) {
    release.push(pod);
    countPod(view, pod, counting, verdict);
    const { succeeded, failed, indexes: newIndexes } = counting;
    isPartial = succeeded.length + failed.length + newIndexes.length >= maxUncounted;
    if (isPartial) break;
  }
  const { succeeded, failed } = counting;
  return {
    status: {
      ...cleaned,
      uncountedTerminatedPods: uncountedOf(succeeded, failed),
      ...indexFields(view),
    },
    release,
    isPartial,
  };
}

type Counting = {
  readonly succeeded: string[];
  readonly failed: string[];
  readonly indexes: number[];
};

/** Pods whose finalizer may go; indexes are completed in order. */
function releasable(view: JobView, verdict: Verdict | undefined): readonly Pod[] {
  const pods = view.pods.filter((pod) => isTracked(pod) && mayRelease(view, pod, verdict));
  if (view.indexes === undefined) return pods;
  return pods.sort((a, b) => (completionIndex(a) ?? -1) - (completionIndex(b) ?? -1));
}

/** A failed pod stays while its index waits for its replacement. */
function mayRelease({ job, indexes }: JobView, pod: Pod, verdict: Verdict | undefined): boolean {
  if (job.metadata.deletionTimestamp !== undefined || verdict !== undefined) return true;
  if (pod.status.phase === 'Succeeded') return true;
  if (!isPodFailed(pod, job)) return false;
  const index = completionIndex(pod);
  const waiting = index === undefined ? undefined : indexes?.replaced.get(index);
  return waiting?.metadata.uid !== pod.metadata.uid || waiting === undefined;
}

function countPod(
  { job, uncounted, indexes }: JobView,
  pod: Pod,
  counting: Counting,
  verdict: Verdict | undefined,
): void {
  const { uid = '' } = pod.metadata;
  const index = validIndex(job, pod);
  if (pod.status.phase === 'Succeeded' && !uncounted.failed.has(uid)) {
    if (indexes === undefined && !uncounted.succeeded.has(uid)) counting.succeeded.push(uid);
    if (indexes !== undefined && index !== undefined && !hasIndex(indexes.counted, index))
      counting.indexes.push(index);
    return;
  }
  // A job that has failed has failed with all pods that have not ended.
  const isOver = verdict !== undefined && verdict.type !== 'SuccessCriteriaMet';
  if (!isOver && !isPodFailed(pod, job)) return;
  if (uncounted.failed.has(uid) || (indexes !== undefined && index === undefined)) return;
  if (matchFailurePolicy(job, pod).counts) counting.failed.push(uid);
}

/** An index that has succeeded is in the status at once: it cannot be counted twice. */
function indexFields({ indexes }: JobView): Partial<JobStatus> {
  if (indexes === undefined) return {};
  return {
    succeeded: countIndexes(indexes.succeeded),
    completedIndexes: formatIndexes(indexes.succeeded),
    ...(indexes.failed === undefined ? {} : { failedIndexes: formatIndexes(indexes.failed) }),
  };
}

function uncountedOf(succeeded: readonly string[], failed: readonly string[]): UncountedPods {
  return {
    ...(succeeded.length === 0 ? {} : { succeeded }),
    ...(failed.length === 0 ? {} : { failed }),
  };
}

/** Moves pods without a finalizer from the uncounted ones to the counters. `tracked`: the UIDs that still have it. */
export function countReleased(status: JobStatus, tracked: ReadonlySet<string>): JobStatus {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const openSucceeded = succeeded.filter((uid) => tracked.has(uid));
  const openFailed = failed.filter((uid) => tracked.has(uid));
  return {
    ...status,
    succeeded: (status.succeeded ?? 0) + succeeded.length - openSucceeded.length,
    failed: (status.failed ?? 0) + failed.length - openFailed.length,
    uncountedTerminatedPods: uncountedOf(openSucceeded, openFailed),
  };
}
