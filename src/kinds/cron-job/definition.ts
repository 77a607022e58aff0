import { nameIsDnsSubdomain } from '../../meta/names.ts';
import { deepEqual } from '../../schema/equality.ts';
import type { KindDefinition } from '../definition.ts';
import { jobSpecWarnings } from '../job/warnings.ts';
import { nameWarnings } from '../pod-template/warnings.ts';
import { cronJobColumns } from './columns.ts';
import { defaultCronJob } from './defaults.ts';
import { type CronJob, cronJobSchema } from './types.ts';
import { validateCronJob, validateCronJobUpdate } from './validate.ts';

export const cronJobDefinition: KindDefinition<CronJob> = {
  group: 'batch',
  version: 'v1',
  kind: 'CronJob',
  plural: 'cronjobs',
  singular: 'cronjob',
  shortNames: ['cj'],
  categories: ['all'],
  namespaced: true,
  schema: cronJobSchema,
  nameRule: nameIsDnsSubdomain,
  defaults: defaultCronJob,
  create: {
    prepareCreate: (object) => ({ ...object, status: {} }),
    validateCreate: validateCronJob,
    warnOnCreate: ({ metadata, spec }) => [
      ...nameWarnings(metadata),
      ...jobSpecWarnings(spec.jobTemplate.spec, 'spec.jobTemplate.spec'),
    ],
  },
  update: {
    prepareUpdate: (before, after) => ({ ...after, status: before.status }),
    validateUpdate: validateCronJobUpdate,
    // Only when the generation changes: a change of labels does not repeat old warnings.
    warnOnUpdate: (before, after) =>
      before.metadata.generation === after.metadata.generation
        ? []
        : jobSpecWarnings(after.spec.jobTemplate.spec, 'spec.jobTemplate.spec'),
  },
  generationChanges: (before, after) => !deepEqual(before.spec, after.spec),
  subresources: [
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      rules: {
        prepareUpdate: (before, after) => ({ ...after, spec: before.spec }),
        validateUpdate: () => [],
      },
    },
  ],
  columns: cronJobColumns,
  fieldSelectorError: 'known',
};
