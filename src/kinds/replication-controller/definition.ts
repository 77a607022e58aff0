import { type FieldError, required } from '../../meta/field-error.ts';
import { formatLabelMap, selectorFromMap } from '../../meta/labels.ts';
import { nameIsDnsSubdomain } from '../../meta/names.ts';
import { deepEqual } from '../../schema/equality.ts';
import type { Column, KindDefinition } from '../definition.ts';
import { ageColumn, nameColumn } from '../metadata-columns.ts';
import { validateNotNegative } from '../pod/field-rules.ts';
import { templateColumns } from '../pod-template/columns.ts';
import { validateOwnedTemplate } from '../pod-template/validate.ts';
import { workloadUpdateWarnings, workloadWarnings } from '../pod-template/warnings.ts';
import { validateCounts } from '../replica-set/validate.ts';
import { scaleSubresource } from '../scale/subresource.ts';
import { defaultReplicationController } from './defaults.ts';
import { type ReplicationController, replicationControllerSchema } from './types.ts';

const columns: readonly Column<ReplicationController>[] = [
  nameColumn,
  {
    name: 'Desired',
    type: 'integer',
    description:
      'Replicas is the number of desired replicas. This is a pointer to distinguish between explicit zero and unspecified. Defaults to 1. More info: https://kubernetes.io/docs/concepts/workloads/controllers/replicationcontroller#what-is-a-replicationcontroller',
    cell: ({ spec }) => spec.replicas ?? 0,
  },
  {
    name: 'Current',
    type: 'integer',
    description:
      'Replicas is the most recently observed number of replicas. More info: https://kubernetes.io/docs/concepts/workloads/controllers/replicationcontroller#what-is-a-replicationcontroller',
    cell: ({ status }) => status.replicas,
  },
  {
    name: 'Ready',
    type: 'integer',
    description: 'The number of ready replicas for this replication controller.',
    cell: ({ status }) => status.readyReplicas ?? 0,
  },
  ageColumn,
  ...templateColumns<ReplicationController>(({ spec }) => spec.template),
  {
    name: 'Selector',
    type: 'string',
    priority: 1,
    description:
      'Selector is a label query over pods that should match the Replicas count. If Selector is empty, it is defaulted to the labels present on the Pod template. Label keys and values that must match in order to be controlled by this replication controller, if empty defaulted to labels on Pod template. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors',
    cell: ({ spec }) => formatLabelMap(spec.selector),
  },
];

export const replicationControllerDefinition: KindDefinition<ReplicationController> = {
  group: '',
  version: 'v1',
  kind: 'ReplicationController',
  plural: 'replicationcontrollers',
  singular: 'replicationcontroller',
  shortNames: ['rc'],
  categories: ['all'],
  namespaced: true,
  schema: replicationControllerSchema,
  nameRule: nameIsDnsSubdomain,
  defaults: defaultReplicationController,
  create: {
    prepareCreate: (object) => ({ ...object, status: { replicas: 0 } }),
    validateCreate: validate,
    warnOnCreate: ({ metadata, spec }) => workloadWarnings(metadata, spec.template),
  },
  update: {
    prepareUpdate: (before, after) => ({ ...after, status: before.status }),
    validateUpdate: (_before, after) => validate(after),
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
  columns,
  fieldSelectors: { 'status.replicas': ({ status }) => String(status.replicas) },
  fieldSelectorError: 'label',
};

function validate({ spec }: ReplicationController): readonly FieldError[] {
  const { selector = {}, template } = spec;
  return [
    ...validateNotNegative('spec.minReadySeconds', spec.minReadySeconds),
    ...(Object.keys(selector).length === 0 ? [required('spec.selector')] : []),
    ...validateNotNegative('spec.replicas', spec.replicas),
    ...(template === undefined
      ? [required('spec.template')]
      : validateOwnedTemplate(
          template,
          { kind: 'ReplicationController', selector: selectorFromMap(selector) },
          'spec.template',
        )),
  ];
}
