// One sync of a job: views it, manages its pods, counts those that have ended, and writes its status.
import type { EventRecorder } from '../../client/event-recorder.ts';
import type { WriteRecorder } from '../../client/expectations.ts';
import type { ReconcileResult } from '../../client/reconcile.ts';
import type { ResourceClient } from '../../client/rest.ts';
import { yieldWhenDue } from '../../host/yield-when-due.ts';
import { isJobFinished, jobCondition } from '../../kinds/job/conditions.ts';
import type { Job, JobCondition, JobStatus } from '../../kinds/job/types.ts';
import { isPodReady } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { deepEqual } from '../../schema/equality.ts';
import { formatTime } from '../../schema/time.ts';
import { createPods, deletePods, discardPods, type JobTask, releasePods } from './apply.ts';
import type { BackOffRecord } from './back-off.ts';
import { countReleased, planCounts } from './count-pods.ts';
import { maxPodsPerSync, planPods } from './plan-pods.ts';
import { isTracked } from './pod-state.ts';
import {
  type ConditionVerdict,
  endedStatus,
  finalVerdict,
  storedForm,
  withInterimCondition,
  withJobCondition,
} from './status.ts';
import { deadlineMs, judgeCompletion, judgeJob, type Verdict } from './verdict.ts';
import { type JobView, viewJob } from './view.ts';

export type SyncTask = JobTask & {
  readonly pods: readonly Pod[];
  readonly client: ResourceClient<Job>;
  readonly jobWriteRecorder: WriteRecorder<Job>;
  /** By the UID of the job; lost with the process, as upstream's. */
  readonly backOffs: Map<string, BackOffRecord>;
  readonly now: number;
};

/** There is more to do at once. */
const soon: ReconcileResult = { retryAfterMs: 10 };

export async function syncJob(task: SyncTask): Promise<ReconcileResult | undefined> {
  const { owner, pods, backOffs, now } = task;
  const uid = owner.metadata.uid ?? '';
  if (isJobFinished(owner)) {
    backOffs.delete(uid);
    return undefined;
  }
  const job = started(owner, now);
  const view = viewJob({ job, pods, backOff: backOffs.get(uid), now });
  // A job may have ten thousand pods, and each step goes over all of them.
  await yieldWhenDue();
  const managed = await managePods(task, view);
  await yieldWhenDue();
  const counted = await countPods(task, view, managed);
  if (managed.failure !== undefined) throw new Error(managed.failure);
  if (counted.hasEnded) {
    backOffs.delete(uid);
    return undefined;
  }
  if (counted.isPartial || managed.isPartial) return soon;
  const waits = [managed.waitMs, deadlineMs(view)].filter((wait) => wait !== undefined);
  return waits.length === 0 ? undefined : { retryAfterMs: Math.min(...waits) };
}

function started(job: Job, now: number): Job {
  const { startTime } = job.status;
  if (startTime !== undefined || job.spec.suspend === true) return job;
  return { ...job, status: { ...job.status, startTime: formatTime(now) } };
}

type Managed = {
  readonly active: number;
  readonly ready: number;
  readonly terminating: number;
  readonly verdict?: Verdict;
  readonly conditions: readonly JobCondition[];
  readonly startTime?: string;
  readonly failure?: string;
  readonly waitMs?: number;
  /** More pods are to be created or deleted than one sync does. */
  readonly isPartial: boolean;
};

function managePods(task: SyncTask, view: JobView): Promise<Managed> {
  const verdict = judgeJob(view);
  return verdict === undefined ? runOn(task, view) : end(task, view, verdict);
}

function unchanged({ job, active, ready, terminating }: JobView): Managed {
  const { conditions = [], startTime } = job.status;
  return {
    active: active.length,
    ready,
    terminating,
    conditions,
    ...(startTime === undefined ? {} : { startTime }),
    isPartial: false,
  };
}

/** Those that were deleted are on their way out. */
function without(managed: Managed, gone: readonly Pod[]): Managed {
  return {
    ...managed,
    active: managed.active - gone.length,
    ready: managed.ready - gone.filter(isPodReady).length,
    terminating: managed.terminating + gone.length,
    isPartial: gone.length > 0,
  };
}

/** The job has ended: so do the pods that run. Until all are deleted the end is not declared. */
async function end(task: SyncTask, view: JobView, verdict: Verdict): Promise<Managed> {
  const { done, failure } = await deletePods(task, view.active);
  const managed = without(unchanged(view), done);
  return failure === undefined ? { ...managed, verdict } : { ...managed, failure };
}

async function runOn(task: SyncTask, view: JobView): Promise<Managed> {
  const plan = planPods(view);
  const { done, failure: notDeleted } = await discardPods(task, plan.delete);
  const created = await createPods(task, plan.create, view.indexes?.replaced ?? new Map());
  const rest = without(unchanged(view), done);
  const failure = notDeleted ?? created.failure;
  const managed: Managed = {
    ...rest,
    active: rest.active + created.count,
    isPartial: rest.isPartial || created.count === maxPodsPerSync,
    ...(failure === undefined ? {} : { failure }),
    ...(plan.waitMs === undefined ? {} : { waitMs: plan.waitMs }),
  };
  const verdict = judgeCompletion(view, managed.active);
  if (verdict !== undefined) return { ...managed, verdict };
  return view.job.metadata.deletionTimestamp === undefined
    ? suspendOrResume(task, view, managed)
    : managed;
}

const suspended: ConditionVerdict = {
  type: 'Suspended',
  status: 'True',
  reason: 'JobSuspended',
  message: 'Job suspended',
};
const resumed: ConditionVerdict = {
  type: 'Suspended',
  status: 'False',
  reason: 'JobResumed',
  message: 'Job resumed',
};

/** The time of activeDeadlineSeconds begins anew when the job is resumed. */
function suspendOrResume(
  { recorder, owner, now }: SyncTask,
  { job }: JobView,
  managed: Managed,
): Managed {
  const isSuspended = job.spec.suspend === true;
  const verdict = isSuspended ? suspended : resumed;
  const time = formatTime(now);
  const conditions = withJobCondition(managed.conditions, verdict, time);
  if (conditions === managed.conditions) return managed;
  const reason = isSuspended ? 'Suspended' : 'Resumed';
  recorder.record(owner, { type: 'Normal', reason, message: verdict.message });
  return { ...managed, conditions, ...(isSuspended ? {} : { startTime: time }) };
}

type Counted = { readonly hasEnded: boolean; readonly isPartial: boolean };

/** The order matters: a pod is in the status before it loses its finalizer, and in the counters after. */
async function countPods(task: SyncTask, view: JobView, managed: Managed): Promise<Counted> {
  const { owner, backOffs, now } = task;
  const { verdict, conditions, startTime } = managed;
  const time = formatTime(now);
  const { status, release, isPartial } = planCounts(
    view,
    {
      ...view.job.status,
      active: managed.active,
      ready: managed.ready,
      terminating: managed.terminating,
      conditions: withInterimCondition(conditions, verdict, time),
      ...(startTime === undefined ? {} : { startTime }),
    },
    verdict,
  );
  const written = await writeStatus(task, owner, status);
  backOffs.set(owner.metadata.uid ?? '', view.backOff);
  const { done, failure } = await releasePods(task, release);
  const released = new Set(done.map(({ metadata }) => metadata.uid));
  const tracked = new Set(
    view.pods
      .filter((pod) => isTracked(pod) && !released.has(pod.metadata.uid))
      .map(({ metadata }) => metadata.uid ?? ''),
  );
  const after = countReleased(written.status, tracked);
  const ended =
    verdict === undefined || isPartial || failure !== undefined
      ? undefined
      : endedStatus(after, finalVerdict(verdict), time);
  const final = await writeStatus(task, written, ended ?? after);
  if (ended !== undefined && verdict !== undefined) recordEnd(task.recorder, final);
  if (failure !== undefined) throw new Error(failure);
  return { hasEnded: ended !== undefined, isPartial: isPartial || done.length > 0 };
}

/** With the resourceVersion of the job that was viewed: who counts on what has changed meanwhile is refused. */
async function writeStatus(
  { client, jobWriteRecorder }: SyncTask,
  job: Job,
  wanted: JobStatus,
): Promise<Job> {
  const status = storedForm(wanted);
  if (deepEqual(status, job.status)) return job;
  const written = await client.update({ ...job, status }, { subresource: 'status' });
  jobWriteRecorder.wrote(written);
  return written;
}

function recordEnd(recorder: EventRecorder, job: Job): void {
  const failed = jobCondition(job, 'Failed');
  if (failed?.status === 'True') {
    const { reason = '', message = '' } = failed;
    recorder.record(job, { type: 'Warning', reason, message });
    return;
  }
  const { succeeded = 0 } = job.status;
  if (succeeded > (job.spec.completions ?? Number.POSITIVE_INFINITY))
    recorder.record(job, {
      type: 'Warning',
      reason: 'TooManySucceededPods',
      message: 'Too many succeeded pods running after completion count reached',
    });
  recorder.record(job, { type: 'Normal', reason: 'Completed', message: 'Job completed' });
}
