import { nameIsDnsSubdomain } from '../../meta/names.ts';
import { deepEqual } from '../../schema/equality.ts';
import type { KindDefinition } from '../definition.ts';
import { defaultPodTemplate } from '../pod-template/defaults.ts';
import { workloadUpdateWarnings, workloadWarnings } from '../pod-template/warnings.ts';
import { scaleSubresource } from '../scale/subresource.ts';
import { replicaSetColumns } from './columns.ts';
import { type ReplicaSet, replicaSetSchema } from './types.ts';
import { validateCounts, validateReplicaSet, validateReplicaSetUpdate } from './validate.ts';

export const replicaSetDefinition: KindDefinition<ReplicaSet> = {
  group: 'apps',
  version: 'v1',
  kind: 'ReplicaSet',
  plural: 'replicasets',
  singular: 'replicaset',
  shortNames: ['rs'],
  categories: ['all'],
  namespaced: true,
  schema: replicaSetSchema,
  nameRule: nameIsDnsSubdomain,
  defaults: (object) => ({
    ...object,
    spec: {
      ...object.spec,
      replicas: object.spec.replicas ?? 1,
      template: defaultPodTemplate(object.spec.template),
    },
  }),
  create: {
    prepareCreate: (object) => ({ ...object, status: { replicas: 0 } }),
    validateCreate: validateReplicaSet,
    warnOnCreate: ({ metadata, spec }) => workloadWarnings(metadata, spec.template),
  },
  update: {
    prepareUpdate: (before, after) => ({ ...after, status: before.status }),
    validateUpdate: validateReplicaSetUpdate,
    warnOnUpdate: workloadUpdateWarnings,
  },
  generationChanges: (before, after) => !deepEqual(before.spec, after.spec),
  subresources: [
    scaleSubresource,
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      rules: {
        prepareUpdate: (before, after) => ({ ...after, spec: before.spec }),
        validateUpdate: (_before, after) => validateCounts(after.status),
      },
    },
  ],
  columns: replicaSetColumns,
  fieldSelectorError: 'known',
};
