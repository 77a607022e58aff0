import { labelSelector } from '../../meta/labels.ts';
import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import {
  must,
  timeOrNull,
  typedLocalObjectReference,
  typedObjectReference,
} from '../pod/references.ts';
import { resourceList, volumeResourceRequirements } from '../pod/resources.ts';

/** Also part of the templates in pods and StatefulSets. */
export const persistentVolumeClaimSpec = s.struct(
  'PersistentVolumeClaimSpec',
  {
    accessModes: s.list(s.string(), 'How the volume may be mounted.', { listType: 'atomic' }),
    selector: s.pointer(labelSelector, 'Which volumes can do.'),
    resources: s.described(volumeResourceRequirements, 'How much is needed.'),
    volumeName: s.string('The volume that is bound.'),
    storageClassName: s.pointer(s.string('The storage class.')),
    volumeMode: s.pointer(s.string('Filesystem or Block.')),
    dataSource: s.pointer(typedLocalObjectReference, 'What the volume is filled from.'),
    dataSourceRef: s.pointer(typedObjectReference, 'What the volume is filled from.'),
    volumeAttributesClassName: s.pointer(s.string('The class of changeable attributes.')),
  },
  { numbers: [1, 4, 2, 3, 5, 6, 7, 8, 9] },
);
export type PersistentVolumeClaimSpec = s.Static<typeof persistentVolumeClaimSpec>;

const condition = s.struct(
  'PersistentVolumeClaimCondition',
  {
    type: must(s.string('Name of the condition, such as Resizing.')),
    status: must(s.string('True, False or Unknown.')),
    lastProbeTime: timeOrNull('When it was last checked.'),
    lastTransitionTime: timeOrNull('When its status last changed.'),
    reason: s.string('Why, in one word.'),
    message: s.string('Why, for people.'),
  },
  { numbers: [1, 2, 3, 4, 5, 6] },
);
export type PersistentVolumeClaimCondition = s.Static<typeof condition>;

const status = s.struct(
  'PersistentVolumeClaimStatus',
  {
    phase: s.string('Pending, Bound or Lost.'),
    accessModes: s.list(s.string(), 'How the bound volume may be mounted.', {
      listType: 'atomic',
    }),
    capacity: s.described(resourceList, 'How much the bound volume holds.'),
    conditions: s.list(condition, 'What is currently true of the claim.', {
      listType: 'map',
      keys: ['type'],
      mergeKey: 'type',
      patchStrategy: 'merge',
    }),
    allocatedResources: s.map(s.quantity(), 'How much the volume is being expanded to.', {
      mapType: 'granular',
    }),
    allocatedResourceStatuses: s.map(s.string(), 'How far the expansion is, by resource.', {
      mapType: 'granular',
    }),
    currentVolumeAttributesClassName: s.pointer(
      s.string('The class of attributes that is in effect.'),
    ),
    modifyVolumeStatus: s.pointer(
      s.struct(
        'ModifyVolumeStatus',
        {
          targetVolumeAttributesClassName: s.string('The class that is being applied.'),
          status: must(s.string('Pending, InProgress or Infeasible.')),
        },
        { numbers: [1, 2] },
      ),
      'How far a change of attributes is.',
    ),
  },
  { numbers: [1, 2, 3, 4, 5, 7, 8, 9] },
);
export type PersistentVolumeClaimStatus = s.Static<typeof status>;

export const persistentVolumeClaimSchema = s.struct(
  'PersistentVolumeClaim',
  {
    ...objectFields,
    spec: s.described(persistentVolumeClaimSpec, 'The wanted state.'),
    status: s.described(status, 'The state as last observed.'),
  },
  { description: 'A request for storage by the pods that mount it.', numbers: [0, 0, 1, 2, 3] },
);

export type PersistentVolumeClaim = KubeObject & {
  readonly spec: PersistentVolumeClaimSpec;
  readonly status: PersistentVolumeClaimStatus;
};
