import { nameIsDnsSubdomain } from '../../meta/names.ts';
import type { KindDefinition } from '../definition.ts';
import { volumeColumns } from './columns.ts';
import { defaultPersistentVolume } from './defaults.ts';
import { prepareVolumeCreate, prepareVolumeStatus } from './prepare.ts';
import { type PersistentVolume, persistentVolumeSchema } from './types.ts';
import { validateVolume, validateVolumeUpdate } from './validate.ts';
import { volumeWarnings } from './warnings.ts';

export const persistentVolumeDefinition: KindDefinition<PersistentVolume> = {
  group: '',
  version: 'v1',
  kind: 'PersistentVolume',
  plural: 'persistentvolumes',
  singular: 'persistentvolume',
  shortNames: ['pv'],
  namespaced: false,
  schema: persistentVolumeSchema,
  nameRule: nameIsDnsSubdomain,
  defaults: defaultPersistentVolume,
  deleteAnswersObject: true,
  create: {
    prepareCreate: prepareVolumeCreate,
    validateCreate: validateVolume,
    warnOnCreate: volumeWarnings,
  },
  update: {
    prepareUpdate: (before, after) => ({ ...after, status: before.status }),
    validateUpdate: validateVolumeUpdate,
    warnOnUpdate: (_before, after) => volumeWarnings(after),
  },
  subresources: [
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      rules: { prepareUpdate: prepareVolumeStatus, validateUpdate: () => [] },
    },
  ],
  columns: volumeColumns,
  fieldSelectorError: 'known',
};
