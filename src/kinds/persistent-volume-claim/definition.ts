import { nameIsDnsSubdomain } from '../../meta/names.ts';
import type { KindDefinition } from '../definition.ts';
import { claimColumns } from './columns.ts';
import { defaultPersistentVolumeClaim } from './defaults.ts';
import { prepareClaimCreate, prepareClaimStatus, prepareClaimUpdate } from './prepare.ts';
import { type PersistentVolumeClaim, persistentVolumeClaimSchema } from './types.ts';
import { validateClaim, validateClaimUpdate } from './validate.ts';
import { validateClaimStatus } from './validate-status.ts';
import { claimWarnings } from './warnings.ts';

export const persistentVolumeClaimDefinition: KindDefinition<PersistentVolumeClaim> = {
  group: '',
  version: 'v1',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  singular: 'persistentvolumeclaim',
  shortNames: ['pvc'],
  namespaced: true,
  schema: persistentVolumeClaimSchema,
  nameRule: nameIsDnsSubdomain,
  defaults: defaultPersistentVolumeClaim,
  deleteAnswersObject: true,
  create: {
    prepareCreate: prepareClaimCreate,
    validateCreate: validateClaim,
    warnOnCreate: claimWarnings,
  },
  update: {
    prepareUpdate: prepareClaimUpdate,
    validateUpdate: validateClaimUpdate,
    warnOnUpdate: (_before, after) => claimWarnings(after),
  },
  subresources: [
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      rules: { prepareUpdate: prepareClaimStatus, validateUpdate: validateClaimStatus },
    },
  ],
  columns: claimColumns,
  fieldSelectorError: 'known',
};
