// One sync of a cron job: forgets jobs that have ended, removes the oldest, and starts one when it is due.
import type { ApiCaller } from '../../client/api-call.ts';
import type { EventRecorder } from '../../client/event-recorder.ts';
import type { ReconcileResult } from '../../client/reconcile.ts';
import { type ResourceClient, resourceClient } from '../../client/rest.ts';
import { parseSchedule } from '../../kinds/cron-job/parse-schedule.ts';
import { findTimeZone, type TimeZone } from '../../kinds/cron-job/time-zone.ts';
import type { CronJob, CronJobStatus } from '../../kinds/cron-job/types.ts';
import { hasJobCondition, isJobFinished } from '../../kinds/job/conditions.ts';
import { jobDefinition } from '../../kinds/job/definition.ts';
import type { Job } from '../../kinds/job/types.ts';
import { isNamespaceTerminating } from '../../kinds/namespace/terminating-error.ts';
import type { ObjectReference } from '../../kinds/object-reference.ts';
import { isAlreadyExists, isNotFound } from '../../meta/api-error.ts';
import { controllerOf } from '../../meta/owner.ts';
import { deepEqual } from '../../schema/equality.ts';
import { formatTime, parseTime } from '../../schema/time.ts';
import { type Due, findDue, isTooLate, jobNameOf, surplusJobs } from './desired.ts';
import { newJob } from './new-job.ts';

export type SyncTask = {
  readonly caller: ApiCaller;
  readonly cronJob: CronJob;
  readonly client: ResourceClient<CronJob>;
  /** Called with the object as the server returned it. */
  readonly wrote: (cronJob: CronJob) => void;
  /** Those that it controls. */
  readonly jobs: readonly Job[];
  readonly recorder: EventRecorder;
  /** Of cron jobs without one. */
  readonly localZone: TimeZone;
  readonly now: number;
};

/** The status, and when to come back; the status is written in any case, so an error is carried along. */
type Outcome = {
  readonly status: CronJobStatus;
  readonly waitMs?: number | undefined;
  readonly error?: unknown;
};

export async function syncCronJob(task: SyncTask): Promise<ReconcileResult | undefined> {
  const { cronJob } = task;
  const cleaned = await removeSurplus(task);
  const observed = await observeJobs(task, cleaned);
  const { status, waitMs, error } = await startWhenDue(task, observed);
  if (!deepEqual(status, cronJob.status))
    task.wrote(await task.client.update({ ...cronJob, status }, { subresource: 'status' }));
  if (error !== undefined) throw error;
  return waitMs === undefined ? undefined : { retryAfterMs: waitMs };
}

function record(
  { recorder, cronJob }: SyncTask,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
): void {
  recorder.record(cronJob, { type, reason, message });
}

/** The status without the jobs that were removed. */
async function removeSurplus(task: SyncTask): Promise<CronJobStatus> {
  let { status } = task.cronJob;
  for (const job of surplusJobs(task.cronJob, task.jobs)) {
    if (await deleteJob(task, job)) status = withoutActive(status, job.metadata.uid);
  }
  return status;
}

async function deleteJob(task: SyncTask, job: Job): Promise<boolean> {
  const { name = '', namespace = '', uid } = job.metadata;
  try {
    await resourceClient(task.caller, jobDefinition).delete(
      { namespace, name },
      {
        propagationPolicy: 'Background',
        ...(uid === undefined ? {} : { preconditions: { uid } }),
      },
    );
  } catch (error) {
    if (!isNotFound(error)) {
      record(task, 'Warning', 'FailedDelete', `Deleted job: ${(error as Error).message}`);
      return false;
    }
  }
  record(task, 'Normal', 'SuccessfulDelete', `Deleted job ${name}`);
  return true;
}

function withoutActive(status: CronJobStatus, uid: string | undefined): CronJobStatus {
  const { active = [], ...rest } = status;
  const others = active.filter((reference) => reference.uid !== uid);
  return { ...rest, ...(others.length === 0 ? {} : { active: others }) };
}

const isActive = (status: CronJobStatus, uid: string | undefined): boolean =>
  status.active?.some((reference) => reference.uid === uid) ?? false;

async function observeJobs(task: SyncTask, before: CronJobStatus): Promise<CronJobStatus> {
  let status = before;
  for (const job of task.jobs) {
    const { name = '', uid } = job.metadata;
    const isKnown = isActive(status, uid);
    if (!isJobFinished(job)) {
      const seen = 'Saw a job that the controller did not create or forgot';
      if (!isKnown) record(task, 'Warning', 'UnexpectedJob', `${seen}: ${name}`);
      continue;
    }
    if (isKnown) {
      const condition = hasJobCondition(job, 'Complete') ? 'Complete' : 'Failed';
      status = withoutActive(status, uid);
      const completed = `Saw completed job: ${name}, condition: ${condition}`;
      record(task, 'Normal', 'SawCompletedJob', completed);
    }
    status = withSuccess(status, job);
  }
  return withoutMissing(task, status);
}

function withSuccess(status: CronJobStatus, job: Job): CronJobStatus {
  const { completionTime } = job.status;
  if (!hasJobCondition(job, 'Complete') || completionTime === undefined) return status;
  const last = parseTime(status.lastSuccessfulTime ?? '') ?? Number.NEGATIVE_INFINITY;
  const isLater = (parseTime(completionTime) ?? 0) > last;
  return isLater ? { ...status, lastSuccessfulTime: completionTime } : status;
}

/** Active jobs that are gone. The informer may not show one yet, so the server is asked. */
async function withoutMissing(task: SyncTask, before: CronJobStatus): Promise<CronJobStatus> {
  const known = new Set(task.jobs.map(({ metadata }) => metadata.uid));
  let status = before;
  for (const reference of before.active ?? []) {
    if (known.has(reference.uid) || (await readJob(task, reference)) !== undefined) continue;
    const gone = `Active job went missing: ${reference.name ?? ''}`;
    record(task, 'Normal', 'MissingJob', gone);
    status = withoutActive(status, reference.uid);
  }
  return status;
}

async function readJob(
  { caller, cronJob }: SyncTask,
  { name = '' }: Pick<ObjectReference, 'name'>,
): Promise<Job | undefined> {
  const { namespace = '' } = cronJob.metadata;
  try {
    return await resourceClient(caller, jobDefinition).get({ namespace, name });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

async function startWhenDue(task: SyncTask, status: CronJobStatus): Promise<Outcome> {
  const { cronJob } = task;
  if (cronJob.metadata.deletionTimestamp !== undefined) return { status };
  const due = judgeSchedule(task);
  if (due === undefined) return { status };
  const { scheduledAt, waitMs } = due;
  if (scheduledAt === undefined || !mayStart(task, status, scheduledAt)) return { status, waitMs };
  try {
    const started = await startJob(task, status, scheduledAt);
    return started === undefined ? { status } : { status: started, waitMs };
  } catch (error) {
    return { status, error };
  }
}

/** Undefined: it is suspended, or its schedule makes no sense, which an event says. */
function judgeSchedule(task: SyncTask): Due | undefined {
  const { cronJob, now, localZone } = task;
  const { schedule: text, timeZone, suspend } = cronJob.spec;
  const zone = timeZone === undefined ? localZone : findTimeZone(timeZone);
  if (zone === undefined) {
    const why = `invalid timeZone: "${timeZone}": unknown time zone ${timeZone}`;
    record(task, 'Warning', 'UnknownTimeZone', why);
    return undefined;
  }
  if (suspend === true) return undefined;
  const schedule = parseSchedule(text);
  if ('error' in schedule) {
    const why = `unparseable schedule: "${text}" : ${schedule.error}`;
    record(task, 'Warning', 'UnparseableSchedule', why);
    return undefined;
  }
  const due = findDue({ cronJob, schedule, zone, now });
  if (due === undefined) {
    const why = 'time difference between two schedules is less than 1 second';
    record(task, 'Warning', 'InvalidSchedule', `invalid schedule: ${text} : ${why}`);
  }
  if (due?.hasManyMissed === true) {
    const advice =
      'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew';
    record(task, 'Warning', 'TooManyMissedTimes', advice);
  }
  return due;
}

function mayStart(task: SyncTask, status: CronJobStatus, scheduledAt: number): boolean {
  const { cronJob, now } = task;
  if (isTooLate(cronJob, scheduledAt, now)) {
    const time = new Date(scheduledAt).toUTCString().replace('GMT', '+0000');
    record(task, 'Warning', 'MissSchedule', `Missed scheduled time to start a job: ${time}`);
    return false;
  }
  const name = jobNameOf(cronJob, scheduledAt);
  const isStarted =
    status.active?.some((reference) => reference.name === name) ||
    status.lastScheduleTime === formatTime(scheduledAt);
  if (isStarted) return false;
  if (cronJob.spec.concurrencyPolicy === 'Forbid' && (status.active?.length ?? 0) > 0) {
    const why =
      'Not starting job because prior execution is running and concurrency policy is Forbid';
    record(task, 'Normal', 'JobAlreadyActive', why);
    return false;
  }
  return true;
}

/** Undefined: another client made a job of this name. */
async function startJob(
  task: SyncTask,
  before: CronJobStatus,
  scheduledAt: number,
): Promise<CronJobStatus | undefined> {
  const { cronJob } = task;
  const status =
    cronJob.spec.concurrencyPolicy === 'Replace' ? await replaceActive(task, before) : before;
  const job = await createJob(task, scheduledAt);
  if (job === undefined || isActive(status, job.metadata.uid)) return undefined;
  const { name = '', namespace, uid, resourceVersion } = job.metadata;
  const reference: ObjectReference = {
    kind: 'Job',
    ...(namespace === undefined ? {} : { namespace }),
    name,
    ...(uid === undefined ? {} : { uid }),
    apiVersion: 'batch/v1',
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
  return {
    ...status,
    active: [...(status.active ?? []), reference],
    lastScheduleTime: formatTime(scheduledAt),
  };
}

async function replaceActive(task: SyncTask, before: CronJobStatus): Promise<CronJobStatus> {
  let status = before;
  for (const reference of before.active ?? []) {
    const job = await readJob(task, reference);
    if (job !== undefined && !(await deleteJob(task, job)))
      throw new Error(`could not replace job ${reference.namespace ?? ''}/${reference.name ?? ''}`);
    status = withoutActive(status, reference.uid);
  }
  return status;
}

/** A job that an earlier sync made, and did not get into the status, is taken. */
async function createJob(task: SyncTask, scheduledAt: number): Promise<Job | undefined> {
  const { caller, cronJob } = task;
  try {
    const job = await resourceClient(caller, jobDefinition).create(newJob(cronJob, scheduledAt));
    record(task, 'Normal', 'SuccessfulCreate', `Created job ${job.metadata.name}`);
    return job;
  } catch (error) {
    if (isAlreadyExists(error)) {
      const job = await readJob(task, { name: jobNameOf(cronJob, scheduledAt) });
      const isOurs = job !== undefined && controllerOf(job)?.uid === cronJob.metadata.uid;
      return isOurs ? job : undefined;
    }
    if (!isNamespaceTerminating(error)) {
      const why = `Error creating job: ${(error as Error).message}`;
      record(task, 'Warning', 'FailedCreate', why);
    }
    throw error;
  }
}
