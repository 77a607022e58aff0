import { labelSelector } from '../../meta/labels.ts';
import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { persistentVolumeClaimSchema } from '../persistent-volume-claim/types.ts';
import { must, timeOrNull } from '../pod/references.ts';
import { podTemplateSpec } from '../pod-template/types.ts';

const rollingUpdate = s.struct(
  'RollingUpdateStatefulSetStrategy',
  {
    partition: s.pointer(s.int32('Pods of lower ordinals retain the current revision.')),
    maxUnavailable: s.pointer(
      s.intOrString(
        'How many pods may be missing during an update. Dropped, as Kubernetes 1.36 does by default.',
      ),
    ),
  },
  { numbers: [1, 2] },
);

const updateStrategy = s.struct(
  'StatefulSetUpdateStrategy',
  {
    type: s.string('RollingUpdate or OnDelete.'),
    rollingUpdate: s.pointer(rollingUpdate, 'Which pods a rolling update replaces.'),
  },
  { numbers: [1, 2] },
);
export type StatefulSetUpdateStrategy = s.Static<typeof updateStrategy>;

const retentionPolicy = s.struct(
  'StatefulSetPersistentVolumeClaimRetentionPolicy',
  {
    whenDeleted: s.string('Claims when the set is deleted: Retain or Delete.'),
    whenScaled: s.string('Claims of pods that scaling down removes: Retain or Delete.'),
  },
  { numbers: [1, 2] },
);
export type ClaimRetentionPolicy = s.Static<typeof retentionPolicy>;

const ordinals = s.struct(
  'StatefulSetOrdinals',
  { start: must(s.int32('The ordinal of the first pod.')) },
  { numbers: [1] },
);

const spec = s.struct(
  'StatefulSetSpec',
  {
    replicas: s.pointer(s.int32('How many pods are wanted; 1 when absent.')),
    selector: s.required(s.pointer(labelSelector, 'Which pods belong here. Cannot change.')),
    template: s.required(s.described(podTemplateSpec, 'What the pods look like.')),
    volumeClaimTemplates: s.list(
      persistentVolumeClaimSchema,
      'Claims that every pod has of its own. Cannot change.',
      { listType: 'atomic' },
    ),
    serviceName: s.string('The headless Service under which the pods have names. Cannot change.'),
    podManagementPolicy: s.string('OrderedReady or Parallel. Cannot change.'),
    updateStrategy: s.described(updateStrategy, 'How old pods are replaced by new ones.'),
    revisionHistoryLimit: s.pointer(
      s.int32('Old revisions retained for rollbacks; 10 when absent.'),
    ),
    minReadySeconds: s.int32('How long a new pod must be ready to count as available.'),
    persistentVolumeClaimRetentionPolicy: s.pointer(
      retentionPolicy,
      'What becomes of claims that are no longer in use.',
    ),
    ordinals: s.pointer(ordinals, 'How pods are numbered; from 0 when absent.'),
  },
  { numbers: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] },
);
export type StatefulSetSpec = s.Static<typeof spec>;

const condition = s.struct(
  'StatefulSetCondition',
  {
    type: must(s.string('Name of the condition.')),
    status: must(s.string('True, False or Unknown.')),
    lastTransitionTime: timeOrNull('When its status last changed.'),
    reason: s.string('Why, in one word.'),
    message: s.string('Why, for people.'),
  },
  { numbers: [1, 2, 3, 4, 5] },
);

const status = s.struct(
  'StatefulSetStatus',
  {
    observedGeneration: s.int64('Generation of the spec that the status speaks of.'),
    replicas: must(s.int32('Pods that exist.')),
    readyReplicas: s.int32('Pods that are ready.'),
    currentReplicas: s.int32('Pods of the current revision.'),
    updatedReplicas: s.int32('Pods of the update revision.'),
    currentRevision: s.string('The revision before the update.'),
    updateRevision: s.string('The revision of the template.'),
    collisionCount: s.pointer(s.int32('Hash collisions met when naming revisions.')),
    conditions: s.list(condition, 'Conditions.', {
      listType: 'map',
      keys: ['type'],
      mergeKey: 'type',
      patchStrategy: 'merge',
    }),
    availableReplicas: s.always(s.int32('Pods that have been ready for minReadySeconds.')),
  },
  { numbers: [1, 2, 3, 4, 5, 6, 7, 9, 10, 11] },
);
export type StatefulSetStatus = s.Static<typeof status>;

export const statefulSetSchema = s.struct(
  'StatefulSet',
  {
    ...objectFields,
    spec: s.described(spec, 'The wanted state.'),
    status: s.described(status, 'The state as last observed.'),
  },
  {
    description: 'Runs pods with stable names and, where wanted, volumes of their own.',
    numbers: [0, 0, 1, 2, 3],
  },
);

export type StatefulSet = KubeObject & {
  readonly spec: StatefulSetSpec;
  readonly status: StatefulSetStatus;
};
