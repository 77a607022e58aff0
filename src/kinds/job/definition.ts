import { nameIsDnsSubdomain } from '../../meta/names.ts';
import { deepEqual } from '../../schema/equality.ts';
import type { KindDefinition } from '../definition.ts';
import { nameWarnings } from '../pod-template/warnings.ts';
import { jobColumns } from './columns.ts';
import { defaultJob } from './defaults.ts';
import { prepareJobCreate } from './prepare.ts';
import { type Job, jobSchema } from './types.ts';
import { validateJob } from './validate.ts';
import { validateJobStatusUpdate } from './validate-status.ts';
import { validateJobUpdate } from './validate-update.ts';
import { jobSpecWarnings } from './warnings.ts';

export const jobDefinition: KindDefinition<Job> = {
  group: 'batch',
  version: 'v1',
  kind: 'Job',
  plural: 'jobs',
  singular: 'job',
  categories: ['all'],
  namespaced: true,
  schema: jobSchema,
  nameRule: nameIsDnsSubdomain,
  defaults: defaultJob,
  create: {
    prepareCreate: prepareJobCreate,
    validateCreate: validateJob,
    warnOnCreate: ({ metadata, spec }) => [
      ...nameWarnings(metadata),
      ...jobSpecWarnings(spec, 'spec'),
    ],
  },
  update: {
    prepareUpdate: (before, after) => ({ ...after, status: before.status }),
    validateUpdate: validateJobUpdate,
    // On updates only when the generation changes: a change of labels does not repeat old warnings.
    warnOnUpdate: (before, after) =>
      before.metadata.generation === after.metadata.generation
        ? []
        : jobSpecWarnings(after.spec, 'spec'),
  },
  generationChanges: (before, after) => !deepEqual(before.spec, after.spec),
  orphansByDefault: {
    warning:
      'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  },
  subresources: [
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      rules: {
        prepareUpdate: (before, after) => ({ ...after, spec: before.spec }),
        validateUpdate: validateJobStatusUpdate,
      },
    },
  ],
  columns: jobColumns,
  fieldSelectors: { 'status.successful': ({ status }) => String(status.succeeded ?? 0) },
  fieldSelectorError: 'kind',
};
