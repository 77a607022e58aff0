// Which pods a job that goes on creates and deletes. Upstream: manageJob() in pkg/controller/job.
import { isIndexedJob } from '../../kinds/job/conditions.ts';
import { type IndexInterval, withIndexes } from '../../kinds/job/indexes.ts';
import { isTerminating } from '../../kinds/pod/activity.ts';
import { rankVictims } from '../../kinds/pod/rank-victims.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { indexRemainingMs, remainingMs } from './back-off.ts';
import { activeIndexes, completionIndex } from './pod-state.ts';
import { type IndexView, type JobView, validIndex } from './view.ts';

export type PodPlan = {
  /** Deleted without being counted. */
  readonly delete: readonly Pod[];
  /** An index for each new pod; undefined for a job without indexes. */
  readonly create: readonly (number | undefined)[];
  /** Until more pods may be created. */
  readonly waitMs?: number;
};

/** Creations or deletions in one sync, as upstream. */
export const maxPodsPerSync = 500;

const nothing: PodPlan = { delete: [], create: [] };

/** Deletions come first: a sync either creates or deletes. */
export function planPods(view: JobView): PodPlan {
  const { job, active } = view;
  if (job.metadata.deletionTimestamp !== undefined) return nothing;
  if (job.spec.suspend === true) return { delete: active, create: [] };
  const wanted = wantedPods(view);
  const surplus = podsToRemove(view, Math.max(0, active.length - wanted));
  if (surplus.length > 0) return { delete: surplus.slice(0, maxPodsPerSync), create: [] };
  const onlyFailed = job.spec.podReplacementPolicy === 'Failed';
  const missing = wanted - active.length - (onlyFailed ? view.terminating : 0);
  return missing > 0 ? planCreation(view, Math.min(missing, maxPodsPerSync)) : nothing;
}

function wantedPods({ job, active, succeeded }: JobView): number {
  const { completions, parallelism = 1 } = job.spec;
  // After the first success, the pods that run decide for themselves when they are done.
  if (completions === undefined) return succeeded > 0 ? active.length : parallelism;
  return Math.max(0, Math.min(completions - succeeded, parallelism));
}

function podsToRemove(view: JobView, atLeast: number): readonly Pod[] {
  const { job, active, now } = view;
  const { misplaced, left } = isIndexedJob(job)
    ? splitByIndex(view)
    : { misplaced: [], left: active };
  const more = atLeast - misplaced.length;
  if (more <= 0) return misplaced;
  return [...misplaced, ...byRank(left, now).slice(0, more)];
}

/** Pods without a valid index, and all but one of each index, are misplaced. */
function splitByIndex({ job, active, now }: JobView) {
  const misplaced: Pod[] = [];
  const left = new Map<number, Pod>();
  const repeated = new Map<number, Pod[]>();
  for (const pod of active) {
    const index = validIndex(job, pod);
    if (index === undefined) misplaced.push(pod);
    else if (left.has(index)) repeated.set(index, [...(repeated.get(index) ?? []), pod]);
    else left.set(index, pod);
  }
  for (const [index, others] of repeated) {
    const first = left.get(index);
    const ranked = byRank(first === undefined ? others : [first, ...others], now);
    misplaced.push(...ranked.slice(0, -1));
    const [best] = ranked.slice(-1);
    if (best !== undefined) left.set(index, best);
  }
  return { misplaced, left: [...left.values()] };
}

/** In the order in which they are deleted. */
const byRank = (pods: readonly Pod[], now: number): readonly Pod[] =>
  rankVictims(
    pods.map((pod) => ({ pod, companions: 0 })),
    now,
  );

function planCreation(view: JobView, count: number): PodPlan {
  const { indexes, backOff, now } = view;
  const waitMs = indexes?.failed === undefined ? remainingMs(backOff, now) : 0;
  if (waitMs > 0) return { ...nothing, waitMs };
  if (indexes === undefined)
    return { delete: [], create: Array.from({ length: count }, () => undefined) };
  const pending = pendingIndexes(view, indexes, count);
  if (indexes.failed === undefined) return { delete: [], create: pending };
  const waits = pending.map((index) => indexRemainingMs(indexes.replaced.get(index), now));
  const create = pending.filter((_index, at) => waits[at] === 0);
  const later = waits.filter((wait) => wait > 0);
  return {
    delete: [],
    create,
    ...(later.length === 0 ? {} : { waitMs: Math.min(...later) }),
  };
}

/** The lowest indexes that have neither ended nor a pod. Bounded by the number of intervals and by `count`. */
function pendingIndexes(
  { job, pods }: JobView,
  { completions, succeeded, failed = [] }: IndexView,
  count: number,
): readonly number[] {
  const taken = [...activeIndexes(pods)];
  if (job.spec.podReplacementPolicy === 'Failed')
    taken.push(...pods.filter(isTerminating).flatMap((pod) => completionIndex(pod) ?? []));
  const pending: number[] = [];
  let candidate = 0;
  const takeUntil = (end: number): void => {
    for (; candidate < end && pending.length < count; candidate += 1) pending.push(candidate);
  };
  for (const { first, last } of merged(withIndexes(succeeded, taken), failed)) {
    takeUntil(Math.min(first, completions));
    candidate = Math.max(candidate, last + 1);
  }
  takeUntil(completions);
  return pending;
}

function merged(
  a: readonly IndexInterval[],
  b: readonly IndexInterval[],
): readonly IndexInterval[] {
  return b.length === 0 ? a : [...a, ...b].sort((x, y) => x.first - y.first);
}
