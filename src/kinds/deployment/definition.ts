import { nameIsDnsSubdomain } from '../../meta/names.ts';
import { deepEqual } from '../../schema/equality.ts';
import type { KindDefinition } from '../definition.ts';
import { workloadUpdateWarnings, workloadWarnings } from '../pod-template/warnings.ts';
import { scaleSubresource } from '../scale/subresource.ts';
import { deploymentColumns } from './columns.ts';
import { defaultDeployment } from './defaults.ts';
import { type Deployment, deploymentSchema } from './types.ts';
import {
  validateDeployment,
  validateDeploymentStatusUpdate,
  validateDeploymentUpdate,
} from './validate.ts';

export const deploymentDefinition: KindDefinition<Deployment> = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  singular: 'deployment',
  shortNames: ['deploy'],
  categories: ['all'],
  namespaced: true,
  schema: deploymentSchema,
  nameRule: nameIsDnsSubdomain,
  defaults: defaultDeployment,
  create: {
    prepareCreate: (object) => ({ ...object, status: {} }),
    validateCreate: validateDeployment,
    warnOnCreate: ({ metadata, spec }) => workloadWarnings(metadata, spec.template),
  },
  update: {
    prepareUpdate: (before, after) => ({ ...after, status: before.status }),
    validateUpdate: validateDeploymentUpdate,
    warnOnUpdate: workloadUpdateWarnings,
  },
  // Annotations count, because rollouts copy them to replica sets.
  generationChanges: (before, after) =>
    !deepEqual(before.spec, after.spec) ||
    !deepEqual(before.metadata.annotations ?? {}, after.metadata.annotations ?? {}),
  subresources: [
    scaleSubresource,
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      rules: {
        prepareUpdate: prepareStatusUpdate,
        validateUpdate: validateDeploymentStatusUpdate,
        resetFields: [['spec'], ['metadata', 'labels']],
      },
    },
  ],
  columns: deploymentColumns,
  fieldSelectorError: 'known',
};

/** A status write does not change labels either. */
function prepareStatusUpdate(before: Deployment, after: Deployment): Deployment {
  const { labels: _ignored, ...metadata } = after.metadata;
  const { labels } = before.metadata;
  return {
    ...after,
    metadata: { ...metadata, ...(labels === undefined ? {} : { labels }) },
    spec: before.spec,
  };
}
