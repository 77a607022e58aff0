import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { bindingFields } from '../rbac/types.ts';

export const roleBindingSchema = s.struct(
  'RoleBinding',
  { ...objectFields, ...bindingFields },
  { numbers: [0, 0, 1, 2, 3] },
);
export type RoleBinding = KubeObject & s.Static<typeof roleBindingSchema>;
