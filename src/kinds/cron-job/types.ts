import { type KubeObject, objectFields, objectMeta } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { jobSpec } from '../job/types.ts';
import { objectReference } from '../object-reference.ts';
import { must } from '../pod/references.ts';

const jobTemplateSpec = s.struct(
  'JobTemplateSpec',
  {
    metadata: s.described(objectMeta, 'Labels and annotations of the jobs.'),
    spec: s.described(jobSpec, 'The wanted state of the jobs.'),
  },
  { numbers: [1, 2] },
);
export type JobTemplateSpec = s.Static<typeof jobTemplateSpec>;

const spec = s.struct(
  'CronJobSpec',
  {
    schedule: must(s.string('When jobs start, in the format of cron.')),
    timeZone: s.pointer(
      s.string('The time zone of the schedule; that of the controllers if absent.'),
    ),
    startingDeadlineSeconds: s.pointer(s.int64('How late a job may start.')),
    concurrencyPolicy: s.string('What happens while a job runs: Allow, Forbid or Replace.'),
    suspend: s.pointer(s.boolean('No further jobs start.')),
    jobTemplate: s.required(s.described(jobTemplateSpec, 'What the jobs look like.')),
    successfulJobsHistoryLimit: s.pointer(s.int32('Completed jobs that stay; 3 when absent.')),
    failedJobsHistoryLimit: s.pointer(s.int32('Failed jobs that stay; 1 when absent.')),
  },
  { numbers: [1, 8, 2, 3, 4, 5, 6, 7] },
);
export type CronJobSpec = s.Static<typeof spec>;

const status = s.struct(
  'CronJobStatus',
  {
    active: s.list(objectReference, 'Jobs that run.', { listType: 'atomic' }),
    lastScheduleTime: s.pointer(s.time('The last time for which a job was started.')),
    lastSuccessfulTime: s.pointer(s.time('When a job last completed.')),
  },
  { numbers: [1, 4, 5] },
);
export type CronJobStatus = s.Static<typeof status>;

export const cronJobSchema = s.struct(
  'CronJob',
  {
    ...objectFields,
    spec: s.described(spec, 'The wanted state.'),
    status: s.described(status, 'The state as last observed.'),
  },
  { description: 'Starts jobs on a schedule.', numbers: [0, 0, 1, 2, 3] },
);

export type CronJob = KubeObject & { readonly spec: CronJobSpec; readonly status: CronJobStatus };
