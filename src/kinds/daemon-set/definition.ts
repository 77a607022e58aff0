import { nameIsDnsSubdomain } from '../../meta/names.ts';
import { deepEqual } from '../../schema/equality.ts';
import type { KindDefinition } from '../definition.ts';
import { workloadUpdateWarnings, workloadWarnings } from '../pod-template/warnings.ts';
import { daemonSetColumns } from './columns.ts';
import { defaultDaemonSet } from './defaults.ts';
import { firstTemplateGeneration, nextTemplateGeneration } from './template-generation.ts';
import { type DaemonSet, type DaemonSetStatus, daemonSetSchema } from './types.ts';
import {
  validateDaemonSet,
  validateDaemonSetStatusUpdate,
  validateDaemonSetUpdate,
} from './validate.ts';

const noStatus: DaemonSetStatus = {
  currentNumberScheduled: 0,
  numberMisscheduled: 0,
  desiredNumberScheduled: 0,
  numberReady: 0,
};

export const daemonSetDefinition: KindDefinition<DaemonSet> = {
  group: 'apps',
  version: 'v1',
  kind: 'DaemonSet',
  plural: 'daemonsets',
  singular: 'daemonset',
  shortNames: ['ds'],
  categories: ['all'],
  namespaced: true,
  schema: daemonSetSchema,
  nameRule: nameIsDnsSubdomain,
  defaults: defaultDaemonSet,
  create: {
    prepareCreate: (object) => ({ ...firstTemplateGeneration(object), status: noStatus }),
    validateCreate: validateDaemonSet,
    warnOnCreate: ({ metadata, spec }) => workloadWarnings(metadata, spec.template),
  },
  update: {
    prepareUpdate: (before, after) => ({
      ...nextTemplateGeneration(before, after),
      status: before.status,
    }),
    validateUpdate: validateDaemonSetUpdate,
    warnOnUpdate: workloadUpdateWarnings,
  },
  generationChanges: (before, after) => !deepEqual(before.spec, after.spec),
  subresources: [
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      rules: {
        prepareUpdate: (before, after) => ({ ...after, spec: before.spec }),
        validateUpdate: validateDaemonSetStatusUpdate,
      },
    },
  ],
  columns: daemonSetColumns,
  fieldSelectorError: 'known',
};
