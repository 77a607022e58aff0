import { nameIsDnsLabel } from '../../meta/names.ts';
import { deepEqual } from '../../schema/equality.ts';
import type { Column, KindDefinition } from '../definition.ts';
import { ageColumn, nameColumn } from '../metadata-columns.ts';
import { claimSpecWarnings } from '../persistent-volume-claim/warnings.ts';
import { templateColumns } from '../pod-template/columns.ts';
import { workloadUpdateWarnings, workloadWarnings } from '../pod-template/warnings.ts';
import { scaleSubresource } from '../scale/subresource.ts';
import { defaultStatefulSet } from './defaults.ts';
import { type StatefulSet, statefulSetSchema } from './types.ts';
import {
  validateStatefulSet,
  validateStatefulSetStatus,
  validateStatefulSetUpdate,
} from './validate.ts';

const columns: readonly Column<StatefulSet>[] = [
  nameColumn,
  {
    name: 'Ready',
    type: 'string',
    description: 'Number of the pod with ready state',
    cell: ({ spec, status }) => `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
  },
  ageColumn,
  ...templateColumns<StatefulSet>(({ spec }) => spec.template),
];

export const statefulSetDefinition: KindDefinition<StatefulSet> = {
  group: 'apps',
  version: 'v1',
  kind: 'StatefulSet',
  plural: 'statefulsets',
  singular: 'statefulset',
  shortNames: ['sts'],
  categories: ['all'],
  namespaced: true,
  schema: statefulSetSchema,
  nameRule: nameIsDnsLabel,
  defaults: defaultStatefulSet,
  create: {
    prepareCreate: (object) => ({
      ...withoutMaxUnavailable(object),
      status: { replicas: 0, availableReplicas: 0 },
    }),
    validateCreate: validateStatefulSet,
    warnOnCreate: (set) => [
      ...workloadWarnings(set.metadata, set.spec.template),
      ...claimWarnings(set),
      ...historyWarnings(set),
    ],
  },
  update: {
    prepareUpdate: (before, after) => ({ ...withoutMaxUnavailable(after), status: before.status }),
    validateUpdate: validateStatefulSetUpdate,
    warnOnUpdate: (before, after) => [
      ...workloadUpdateWarnings(before, after),
      ...(before.metadata.generation === after.metadata.generation ? [] : claimWarnings(after)),
      ...historyWarnings(after),
    ],
  },
  generationChanges: (before, after) => !deepEqual(before.spec, after.spec),
  subresources: [
    scaleSubresource,
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      rules: {
        prepareUpdate: (before, after) => ({ ...after, spec: before.spec }),
        validateUpdate: (_before, after) => validateStatefulSetStatus(after),
      },
    },
  ],
  columns,
  fieldSelectorError: 'known',
};

/** The feature MaxUnavailableStatefulSet is off in Kubernetes 1.36, and the field is dropped without a word. */
function withoutMaxUnavailable(set: StatefulSet): StatefulSet {
  const { rollingUpdate } = set.spec.updateStrategy;
  if (rollingUpdate?.maxUnavailable === undefined) return set;
  const { maxUnavailable: _dropped, ...rest } = rollingUpdate;
  const updateStrategy = { ...set.spec.updateStrategy, rollingUpdate: rest };
  return { ...set, spec: { ...set.spec, updateStrategy } };
}

function claimWarnings({ spec }: StatefulSet): readonly string[] {
  return (spec.volumeClaimTemplates ?? []).flatMap((claim, index) =>
    claimSpecWarnings(claim.spec, `spec.volumeClaimTemplates[${index}].spec`),
  );
}

function historyWarnings({ spec }: StatefulSet): readonly string[] {
  return (spec.revisionHistoryLimit ?? 0) < 0
    ? [
        'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended',
      ]
    : [];
}
