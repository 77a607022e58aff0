// When a finished job expires. Upstream: pkg/controller/ttlafterfinished.
import { hasJobCondition, jobCondition } from '../../kinds/job/conditions.ts';
import type { Job } from '../../kinds/job/types.ts';
import { parseTime } from '../../schema/time.ts';

/** Milliseconds, 0 when it has expired; undefined: it never does, or has not finished. */
export function expiresInMs(job: Job, now: number): number | undefined {
  const { ttlSecondsAfterFinished } = job.spec;
  if (ttlSecondsAfterFinished === undefined || job.metadata.deletionTimestamp !== undefined)
    return undefined;
  const type = (['Complete', 'Failed'] as const).find((one) => hasJobCondition(job, one));
  if (type === undefined) return undefined;
  const finished = parseTime(jobCondition(job, type)?.lastTransitionTime ?? '');
  if (finished === undefined) return undefined;
  return Math.max(0, finished + ttlSecondsAfterFinished * 1000 - now);
}
