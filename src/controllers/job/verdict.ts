// Whether the job has ended, and why. Upstream: syncJob() in pkg/controller/job.
import { jobCondition } from '../../kinds/job/conditions.ts';
import { countIndexes } from '../../kinds/job/indexes.ts';
import type { Job } from '../../kinds/job/types.ts';
import { parseTime } from '../../schema/time.ts';
import { matchFailurePolicy } from './failure-policy.ts';
import { isPodFailed, totalRestarts } from './pod-state.ts';
import { matchSuccessPolicy } from './success-policy.ts';
import type { JobView } from './view.ts';

/** A terminal condition, or the one that announces it while pods have still to end. */
export type Verdict = {
  readonly type: 'SuccessCriteriaMet' | 'FailureTarget' | 'Complete' | 'Failed';
  readonly reason: string;
  readonly message: string;
};

/** The verdict before pods are managed; undefined: the job goes on. */
export function judgeJob(view: JobView): Verdict | undefined {
  return (
    announced(view.job) ??
    failureByPolicy(view) ??
    failureByLimit(view) ??
    failureByIndexes(view) ??
    successByPolicy(view)
  );
}

/** An earlier sync has decided. */
function announced(job: Job): Verdict | undefined {
  const success = jobCondition(job, 'SuccessCriteriaMet');
  const failure = jobCondition(job, 'FailureTarget');
  if (success?.status === 'True')
    return {
      type: 'SuccessCriteriaMet',
      reason: success.reason ?? '',
      message: success.message ?? '',
    };
  if (failure?.status === 'True')
    return { type: 'Failed', reason: failure.reason ?? '', message: failure.message ?? '' };
  return undefined;
}

const fails = (reason: string, message: string): Verdict => ({
  type: 'FailureTarget',
  reason,
  message,
});

function failureByPolicy({ job, pods }: JobView): Verdict | undefined {
  if (job.spec.podFailurePolicy === undefined) return undefined;
  for (const pod of pods) {
    if (!isPodFailed(pod, job)) continue;
    const { message } = matchFailurePolicy(job, pod);
    if (message !== undefined) return fails('PodFailurePolicy', message);
  }
  return undefined;
}

function failureByLimit(view: JobView): Verdict | undefined {
  const { backoffLimit = 0 } = view.job.spec;
  if (view.failed > backoffLimit || isPastRestarts(view, backoffLimit))
    return fails('BackoffLimitExceeded', 'Job has reached the specified backoff limit');
  const left = deadlineMs(view);
  return left !== undefined && left <= 0
    ? fails('DeadlineExceeded', 'Job was active longer than specified deadline')
    : undefined;
}

/** With restartPolicy OnFailure the kubelet retries, and restarts count. */
function isPastRestarts({ job, pods }: JobView, limit: number): boolean {
  if (job.spec.template.spec.restartPolicy !== 'OnFailure') return false;
  const restarts = totalRestarts(pods);
  return limit === 0 ? restarts > 0 : restarts >= limit;
}

/** Milliseconds until activeDeadlineSeconds have passed; undefined: the job has no deadline, or is suspended. */
export function deadlineMs({ job, now }: Pick<JobView, 'job' | 'now'>): number | undefined {
  const { activeDeadlineSeconds, suspend } = job.spec;
  const start = parseTime(job.status.startTime ?? '');
  if (activeDeadlineSeconds === undefined || start === undefined || suspend === true)
    return undefined;
  return start + activeDeadlineSeconds * 1000 - now;
}

function failureByIndexes({ job, indexes }: JobView): Verdict | undefined {
  if (indexes?.failed === undefined) return undefined;
  const failed = countIndexes(indexes.failed);
  if (failed > (job.spec.maxFailedIndexes ?? Number.POSITIVE_INFINITY))
    return fails(
      'MaxFailedIndexesExceeded',
      'Job has exceeded the specified maximal number of failed indexes',
    );
  const isOver = failed > 0 && failed + countIndexes(indexes.succeeded) >= indexes.completions;
  return isOver ? fails('FailedIndexes', 'Job has failed indexes') : undefined;
}

function successByPolicy({ job, indexes }: JobView): Verdict | undefined {
  if (indexes === undefined) return undefined;
  const { completions, succeeded } = indexes;
  const message = matchSuccessPolicy(job.spec.successPolicy, completions, succeeded);
  return message === undefined
    ? undefined
    : { type: 'SuccessCriteriaMet', reason: 'SuccessPolicy', message };
}

/** The verdict after pods were managed: without a number of completions, one success is enough. */
export function judgeCompletion({ job, succeeded }: JobView, active: number): Verdict | undefined {
  const { completions } = job.spec;
  const isComplete = completions === undefined ? succeeded > 0 : succeeded >= completions;
  return isComplete && active === 0
    ? {
        type: 'SuccessCriteriaMet',
        reason: 'CompletionsReached',
        message: 'Reached expected number of succeeded pods',
      }
    : undefined;
}
