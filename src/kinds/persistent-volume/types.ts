import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { objectReference } from '../object-reference.ts';
import { nodeSelector } from '../pod/affinity.ts';
import { resourceList } from '../pod/resources.ts';
import { volumeSources } from './sources.ts';

const nodeAffinity = s.struct(
  'VolumeNodeAffinity',
  { required: s.pointer(nodeSelector, 'What nodes must be.') },
  { numbers: [1] },
);

const spec = s.struct(
  'PersistentVolumeSpec',
  {
    capacity: s.described(resourceList, 'How much it holds.'),
    ...volumeSources,
    accessModes: s.list(s.string(), 'How it may be mounted.', { listType: 'atomic' }),
    claimRef: s.pointer(
      { ...objectReference, mapType: 'granular' as const },
      'The claim to which it is bound.',
    ),
    persistentVolumeReclaimPolicy: s.string(
      'What becomes of it without its claim: Retain, Delete or Recycle.',
    ),
    storageClassName: s.string('The storage class; empty for none.'),
    mountOptions: s.list(s.string(), 'Options of the mount.', { listType: 'atomic' }),
    volumeMode: s.pointer(s.string('Filesystem or Block.')),
    nodeAffinity: s.pointer(nodeAffinity, 'Nodes that can reach it.'),
    volumeAttributesClassName: s.pointer(s.string('The class of changeable attributes.')),
  },
  {
    numbers: [
      1,
      ...s.within(
        2,
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22],
      ),
      ...[3, 4, 5, 6, 7, 8, 9, 10],
    ],
  },
);
export type PersistentVolumeSpec = s.Static<typeof spec>;

const status = s.struct(
  'PersistentVolumeStatus',
  {
    phase: s.string('Pending, Available, Bound, Released or Failed.'),
    message: s.string('Why, for people.'),
    reason: s.string('Why, in one word.'),
    lastPhaseTransitionTime: s.pointer(s.time('When the phase last changed.')),
  },
  { numbers: [1, 2, 3, 4] },
);

export const persistentVolumeSchema = s.struct(
  'PersistentVolume',
  {
    ...objectFields,
    spec: s.described(spec, 'What it is.'),
    status: s.described(status, 'The state as last observed.'),
  },
  { description: 'A piece of storage, for the claim that binds it.', numbers: [0, 0, 1, 2, 3] },
);

export type PersistentVolume = KubeObject & {
  readonly spec: PersistentVolumeSpec;
  readonly status: s.Static<typeof status>;
};
