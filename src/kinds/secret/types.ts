import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';

export const secretSchema = s.struct(
  'Secret',
  {
    ...objectFields,
    immutable: s.pointer(s.boolean('Once true, the data and this field can no longer change.')),
    data: s.map(s.bytes(), 'Bytes by key, in base64.'),
    stringData: s.map(s.string(), 'Texts by key, written into data and never shown.'),
    type: s.string('What kind of secret this is, and so which keys it must have; cannot change.'),
  },
  { description: 'Confidential data, as bytes by key.', numbers: [0, 0, 1, 5, 2, 4, 3] },
);
export type Secret = KubeObject & s.Static<typeof secretSchema>;

export const tlsSecretType = 'kubernetes.io/tls';
