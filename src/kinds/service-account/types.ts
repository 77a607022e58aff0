import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { localObjectReference, objectReference } from '../object-reference.ts';

export const serviceAccountSchema = s.struct(
  'ServiceAccount',
  {
    ...objectFields,
    secrets: s.list(objectReference, 'Secrets that pods under this account may use, by name.', {
      listType: 'map',
      keys: ['name'],
      mergeKey: 'name',
      patchStrategy: 'merge',
    }),
    imagePullSecrets: s.list(
      localObjectReference,
      'Secrets with which images of pods under this account are fetched.',
      { listType: 'atomic' },
    ),
    automountServiceAccountToken: s.pointer(
      s.boolean('Whether pods get a token of this account unless they say otherwise.'),
    ),
  },
  { description: 'An identity for programs that run in pods.', numbers: [0, 0, 1, 2, 3, 4] },
);
export type ServiceAccount = KubeObject & s.Static<typeof serviceAccountSchema>;
