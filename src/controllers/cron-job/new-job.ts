// The job that a cron job starts.

import { findTimeZone } from '../../kinds/cron-job/time-zone.ts';
import type { CronJob } from '../../kinds/cron-job/types.ts';
import type { Job } from '../../kinds/job/types.ts';
import { ownerReferenceTo } from '../../meta/owner.ts';
import { formatTime } from '../../schema/time.ts';
import { jobNameOf } from './desired.ts';

const scheduledAnnotation = 'batch.kubernetes.io/cronjob-scheduled-timestamp';

export function newJob(cronJob: CronJob, scheduledAt: number): Job {
  const { namespace } = cronJob.metadata;
  const { metadata, spec } = cronJob.spec.jobTemplate;
  const { labels, annotations } = metadata;
  return {
    kind: 'Job',
    apiVersion: 'batch/v1',
    metadata: {
      name: jobNameOf(cronJob, scheduledAt),
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels === undefined ? {} : { labels }),
      annotations: {
        ...annotations,
        [scheduledAnnotation]: localTime(scheduledAt, cronJob.spec.timeZone),
      },
      ownerReferences: [ownerReferenceTo(cronJob)],
    },
    spec,
    status: {},
  };
}

/** RFC 3339 in the time zone of the cron job, as Go writes it. */
function localTime(instant: number, name: string | undefined): string {
  const offset = (name === undefined ? undefined : findTimeZone(name))?.offsetMs(instant) ?? 0;
  const local = formatTime(instant + offset);
  if (offset === 0) return local;
  const minutes = Math.round(Math.abs(offset) / 60_000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const sign = offset < 0 ? '-' : '+';
  return `${local.slice(0, -1)}${sign}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
