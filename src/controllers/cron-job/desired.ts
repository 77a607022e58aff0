// When a cron job is due, and what happens then. Upstream: syncCronJob() in pkg/controller/cronjob.
import { lastTime, nextTime } from '../../kinds/cron-job/next-time.ts';
import type { Schedule } from '../../kinds/cron-job/parse-schedule.ts';
import type { TimeZone } from '../../kinds/cron-job/time-zone.ts';
import type { CronJob } from '../../kinds/cron-job/types.ts';
import { hasJobCondition, isJobFinished } from '../../kinds/job/conditions.ts';
import type { Job } from '../../kinds/job/types.ts';
import { parseTime } from '../../schema/time.ts';

export type DueSituation = {
  readonly cronJob: CronJob;
  readonly schedule: Schedule;
  readonly zone: TimeZone;
  readonly now: number;
};

export type Due = {
  /** The time for which a job is to be started; absent: none was missed. */
  readonly scheduledAt?: number;
  /** More than 100 starts were missed. */
  readonly hasManyMissed: boolean;
  /** Until the next time; absent: there is none within years. */
  readonly waitMs?: number;
};

const manyMissed = 100;
/** So that the clock has passed the time, as upstream. */
const slackMs = 100;

/** The last time that was missed counts: earlier ones are not made up for. Undefined: the schedule is never due. */
export function findDue({ cronJob, schedule, zone, now }: DueSituation): Due | undefined {
  const { startingDeadlineSeconds } = cronJob.spec;
  const since = earliestTime(cronJob);
  const deadline =
    startingDeadlineSeconds === undefined ? since : now - startingDeadlineSeconds * 1000;
  const after = Math.max(since, deadline);
  const first = nextTime(schedule, zone, after);
  if (first === undefined) return undefined;
  if (first > now) return { hasManyMissed: false, waitMs: first - now + slackMs };
  const scheduledAt = lastTime(schedule, zone, { after, now }) ?? first;
  const next = nextTime(schedule, zone, scheduledAt);
  return {
    scheduledAt,
    hasManyMissed: countMissed({ schedule, zone, first, now }) > manyMissed,
    ...(next === undefined ? {} : { waitMs: next - now + slackMs }),
  };
}

function earliestTime({ metadata, status }: CronJob): number {
  return parseTime(status.lastScheduleTime ?? metadata.creationTimestamp ?? '') ?? 0;
}

type Missed = Pick<DueSituation, 'schedule' | 'zone' | 'now'> & { readonly first: number };

/** Estimated by the first interval, as upstream. */
function countMissed({ schedule, zone, first, now }: Missed): number {
  const second = nextTime(schedule, zone, first);
  if (second === undefined || second > now) return 1;
  return Math.floor((now - first) / (second - first)) + 1;
}

export function isTooLate({ spec }: CronJob, scheduledAt: number, now: number): boolean {
  const { startingDeadlineSeconds } = spec;
  return (
    startingDeadlineSeconds !== undefined && scheduledAt + startingDeadlineSeconds * 1000 < now
  );
}

/** The minute is part of the name, so that a start that is repeated after a failure makes no second job. */
export const jobNameOf = ({ metadata }: CronJob, scheduledAt: number): string =>
  `${metadata.name ?? ''}-${Math.floor(scheduledAt / 60_000)}`;

/** Finished jobs beyond the limits of the history, the oldest first. */
export function surplusJobs({ spec }: CronJob, jobs: readonly Job[]): readonly Job[] {
  const finished = jobs.filter(isJobFinished);
  const completed = finished.filter((job) => hasJobCondition(job, 'Complete'));
  const failed = finished.filter((job) => !hasJobCondition(job, 'Complete'));
  return [
    ...oldest(completed, spec.successfulJobsHistoryLimit),
    ...oldest(failed, spec.failedJobsHistoryLimit),
  ];
}

function oldest(jobs: readonly Job[], limit = jobs.length): readonly Job[] {
  return [...jobs].sort(byStart).slice(0, Math.max(0, jobs.length - limit));
}

/** Jobs that have not started come last. */
function byStart(a: Job, b: Job): number {
  const startOf = ({ status }: Job): number =>
    parseTime(status.startTime ?? '') ?? Number.POSITIVE_INFINITY;
  const x = startOf(a);
  const y = startOf(b);
  if (x === y) return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
  return x < y ? -1 : 1;
}
