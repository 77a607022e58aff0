import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';

export const configMapSchema = s.struct(
  'ConfigMap',
  {
    ...objectFields,
    immutable: s.pointer(s.boolean('Once true, the data and this field can no longer change.')),
    data: s.map(s.string(), 'Texts by key.'),
    binaryData: s.map(s.bytes(), 'Bytes by key, in base64; no key of data may repeat here.'),
  },
  { description: 'Settings, as texts and bytes by key.', numbers: [0, 0, 1, 4, 2, 3] },
);
export type ConfigMap = KubeObject & s.Static<typeof configMapSchema>;
