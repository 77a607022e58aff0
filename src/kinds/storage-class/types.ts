import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { must } from '../pod/references.ts';

const topologyRequirement = s.struct(
  'TopologySelectorLabelRequirement',
  {
    key: must(s.string('Label of the node.')),
    values: must(s.list(s.string(), 'Values that do.', { listType: 'atomic' })),
  },
  { numbers: [1, 2] },
);

const topologyTerm = s.struct(
  'TopologySelectorTerm',
  {
    matchLabelExpressions: s.list(topologyRequirement, 'What the labels of nodes must be.', {
      listType: 'atomic',
    }),
  },
  { mapType: 'atomic', numbers: [1] },
);
export type TopologySelectorTerm = s.Static<typeof topologyTerm>;

export const storageClassSchema = s.struct(
  'StorageClass',
  {
    ...objectFields,
    provisioner: must(s.string('Who makes volumes of this class, such as fairlead.dev/local.')),
    parameters: s.map(s.string(), 'Settings for the provisioner.'),
    reclaimPolicy: s.pointer(
      s.string('What becomes of the volumes without their claims: Delete or Retain.'),
    ),
    mountOptions: s.list(s.string(), 'Options of the mounts.', { listType: 'atomic' }),
    allowVolumeExpansion: s.pointer(s.boolean('Claims may grow.')),
    volumeBindingMode: s.pointer(
      s.string('When volumes are made: Immediate or WaitForFirstConsumer.'),
    ),
    allowedTopologies: s.list(topologyTerm, 'Where volumes may be made.', { listType: 'atomic' }),
  },
  {
    description: 'A class of storage, and who makes its volumes.',
    numbers: [0, 0, 1, 2, 3, 4, 5, 6, 7, 8],
  },
);

export type StorageClass = KubeObject & s.Static<typeof storageClassSchema>;
