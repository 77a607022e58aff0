import { defaultPodTemplate } from '../pod-template/defaults.ts';
import type { CronJob } from './types.ts';

const successfulJobs = 3;
const failedJobs = 1;

/** The job template gets the defaults of its pod template only; a job gets the others when it is created. */
export function defaultCronJob(cronJob: CronJob): CronJob {
  const { spec } = cronJob;
  const { jobTemplate } = spec;
  const template = defaultPodTemplate(jobTemplate.spec.template);
  return {
    ...cronJob,
    spec: {
      ...spec,
      concurrencyPolicy: spec.concurrencyPolicy || 'Allow',
      suspend: spec.suspend ?? false,
      jobTemplate: { ...jobTemplate, spec: { ...jobTemplate.spec, template } },
      successfulJobsHistoryLimit: spec.successfulJobsHistoryLimit ?? successfulJobs,
      failedJobsHistoryLimit: spec.failedJobsHistoryLimit ?? failedJobs,
    },
  };
}
