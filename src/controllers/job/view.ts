// A job and its pods, as one sync sees them. Upstream: syncJobCtx in pkg/controller/job.
import { isIndexedJob } from '../../kinds/job/conditions.ts';
import {
  countIndexes,
  hasIndex,
  type IndexInterval,
  readIndexes,
  withIndexes,
} from '../../kinds/job/indexes.ts';
import type { Job } from '../../kinds/job/types.ts';
import { isActive, isTerminating } from '../../kinds/pod/activity.ts';
import { isPodReady } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { type BackOffRecord, backOffAfter } from './back-off.ts';
import { matchFailurePolicy } from './failure-policy.ts';
import {
  activeIndexes,
  completionIndex,
  finishedTime,
  indexFailures,
  isPodFailed,
  isTracked,
} from './pod-state.ts';

export type JobView = {
  readonly job: Job;
  readonly pods: readonly Pod[];
  readonly active: readonly Pod[];
  readonly ready: number;
  readonly terminating: number;
  /** Of the status: pods that are counted as soon as their finalizer has gone. */
  readonly uncounted: {
    readonly succeeded: ReadonlySet<string>;
    readonly failed: ReadonlySet<string>;
  };
  /** All that have ended, counted or not. */
  readonly succeeded: number;
  readonly failed: number;
  readonly backOff: BackOffRecord;
  /** Absent: the job has no indexes. */
  readonly indexes?: IndexView;
  readonly now: number;
};

export type IndexView = {
  readonly completions: number;
  /** In the status. */
  readonly counted: readonly IndexInterval[];
  readonly succeeded: readonly IndexInterval[];
  /** Absent: there is no limit per index. */
  readonly failed?: readonly IndexInterval[];
  /** The last failed pod of an index that is to be replaced: it stays until then, because it carries the count of failures. */
  readonly replaced: ReadonlyMap<number, Pod>;
};

export type Situation = {
  readonly job: Job;
  readonly pods: readonly Pod[];
  readonly backOff: BackOffRecord | undefined;
  readonly now: number;
};

export function viewJob({ job, pods, backOff, now }: Situation): JobView {
  const { status } = job;
  const active = pods.filter(isActive);
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const uncounted = { succeeded: new Set(succeeded), failed: new Set(failed) };
  const isNew = (pod: Pod, known: ReadonlySet<string>): boolean =>
    isTracked(pod) && !known.has(pod.metadata.uid ?? '') && hasValidIndex(job, pod);
  const newSucceeded = pods.filter(
    (pod) => pod.status.phase === 'Succeeded' && isNew(pod, uncounted.succeeded),
  );
  const newFailed = pods.filter((pod) => isPodFailed(pod, job) && isNew(pod, uncounted.failed));
  const countedFailures = newFailed.filter((pod) => matchFailurePolicy(job, pod).counts);
  const indexes = isIndexedJob(job) ? viewIndexes(job, pods) : undefined;
  return {
    job,
    pods,
    active,
    ready: active.filter(isPodReady).length,
    terminating: pods.filter(isTerminating).length,
    uncounted,
    succeeded:
      indexes === undefined
        ? (status.succeeded ?? 0) + newSucceeded.length + succeeded.length
        : countIndexes(indexes.succeeded),
    failed: (status.failed ?? 0) + countedFailures.length + failed.length,
    backOff: backOffAfter(backOff, newSucceeded, newFailed),
    ...(indexes === undefined ? {} : { indexes }),
    now,
  };
}

/** Pods without an index, or with one beyond the completions, do not count for an indexed job. */
function hasValidIndex(job: Job, pod: Pod): boolean {
  return !isIndexedJob(job) || validIndex(job, pod) !== undefined;
}

export function validIndex({ spec }: Job, pod: Pod): number | undefined {
  const index = completionIndex(pod);
  return index !== undefined && index < (spec.completions ?? 0) ? index : undefined;
}

function viewIndexes(job: Job, pods: readonly Pod[]): IndexView {
  const { completions = 0, backoffLimitPerIndex } = job.spec;
  const counted = readIndexes(job.status.completedIndexes ?? '', completions);
  const ended = pods.filter(({ status }) => status.phase === 'Succeeded').filter(isTracked);
  const succeeded = withIndexes(counted, indexesOf(job, ended));
  const replaced = new Map<number, Pod>();
  if (backoffLimitPerIndex === undefined) return { completions, counted, succeeded, replaced };
  const known = readIndexes(job.status.failedIndexes ?? '', completions);
  const failedPods = pods.filter((pod) => isTracked(pod) && isPodFailed(pod, job));
  const given = failedPods.filter((pod) => isIndexFailed(job, pod, backoffLimitPerIndex));
  const failed = withIndexes(known, indexesOf(job, given));
  const busy = activeIndexes(pods);
  for (const pod of failedPods) {
    const index = validIndex(job, pod);
    if (index === undefined || busy.has(index)) continue;
    if (hasIndex(succeeded, index) || hasIndex(failed, index)) continue;
    const other = replaced.get(index);
    if (other === undefined || isLater(pod, other)) replaced.set(index, pod);
  }
  return { completions, counted, succeeded, failed, replaced };
}

const indexesOf = (job: Job, pods: readonly Pod[]): readonly number[] =>
  pods.flatMap((pod) => validIndex(job, pod) ?? []);

function isIndexFailed(job: Job, pod: Pod, limit: number): boolean {
  const { action, counts } = matchFailurePolicy(job, pod);
  return action === 'FailIndex' || (counts && indexFailures(pod).counted >= limit);
}

function isLater(pod: Pod, other: Pod): boolean {
  const total = (one: Pod): number => indexFailures(one).counted + indexFailures(one).ignored;
  return total(pod) - total(other) > 0 || finishedTime(pod) > finishedTime(other);
}
