import { nameIsDnsSubdomain } from '../../meta/names.ts';
import type { KindDefinition } from '../definition.ts';
import { ageColumn, nameColumn } from '../metadata-columns.ts';
import { renamedLabelWarning } from '../pod/warnings-scheduling.ts';
import { isDefaultClass } from './default-class.ts';
import { type StorageClass, storageClassSchema } from './types.ts';
import { validateStorageClass, validateStorageClassUpdate } from './validate.ts';

export const storageClassDefinition: KindDefinition<StorageClass> = {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'StorageClass',
  plural: 'storageclasses',
  singular: 'storageclass',
  shortNames: ['sc'],
  namespaced: false,
  schema: storageClassSchema,
  nameRule: nameIsDnsSubdomain,
  defaults: defaultStorageClass,
  deleteAnswersObject: true,
  create: { validateCreate: validateStorageClass, warnOnCreate: warnings },
  update: {
    validateUpdate: validateStorageClassUpdate,
    warnOnUpdate: (_before, after) => warnings(after),
  },
  columns: [
    {
      ...nameColumn,
      cell: (storage) =>
        `${storage.metadata.name ?? ''}${isDefaultClass(storage) ? ' (default)' : ''}`,
    },
    {
      name: 'Provisioner',
      type: 'string',
      description: 'provisioner indicates the type of the provisioner.',
      cell: ({ provisioner }) => provisioner,
    },
    {
      name: 'ReclaimPolicy',
      type: 'string',
      description:
        'reclaimPolicy controls the reclaimPolicy for dynamically provisioned PersistentVolumes of this storage class. Defaults to Delete.',
      cell: ({ reclaimPolicy }) => reclaimPolicy ?? 'Delete',
    },
    {
      name: 'VolumeBindingMode',
      type: 'string',
      description:
        'volumeBindingMode indicates how PersistentVolumeClaims should be provisioned and bound.  When unset, VolumeBindingImmediate is used. This field is only honored by servers that enable the VolumeScheduling feature.',
      cell: ({ volumeBindingMode }) => volumeBindingMode ?? 'Immediate',
    },
    {
      name: 'AllowVolumeExpansion',
      type: 'string',
      description: 'allowVolumeExpansion shows whether the storage class allow volume expand.',
      cell: ({ allowVolumeExpansion }) => allowVolumeExpansion ?? false,
    },
    ageColumn,
  ],
  fieldSelectorError: 'known',
};

function defaultStorageClass(storage: StorageClass): StorageClass {
  const { reclaimPolicy = 'Delete', volumeBindingMode = 'Immediate' } = storage;
  return { ...storage, reclaimPolicy, volumeBindingMode };
}

function warnings({ allowedTopologies = [] }: StorageClass): readonly string[] {
  return allowedTopologies.flatMap(({ matchLabelExpressions = [] }, index) =>
    matchLabelExpressions.flatMap(({ key }, at) =>
      renamedLabelWarning(key, `allowedTopologies[${index}].matchLabelExpressions[${at}].key`),
    ),
  );
}
