// Jobs for tests, decoded and with defaults.
import { decode } from '../../schema/decode.ts';
import { defaultJob } from './defaults.ts';
import { prepareJobCreate } from './prepare.ts';
import { type Job, jobSchema } from './types.ts';

type Example = {
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
};

export function exampleJob({ metadata, spec, status }: Example = {}): Job {
  const { object } = decode(jobSchema, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'count', namespace: 'default', uid: 'job-uid', ...metadata },
    spec: {
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } },
      ...spec,
    },
  });
  const job = prepareJobCreate(defaultJob(object as Job));
  return { ...job, status: { ...job.status, ...status } };
}
