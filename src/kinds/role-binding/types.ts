import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { bindingFields } from '../rbac/types.ts';

export const roleBindingSchema = s.struct(
  'RoleBinding',
  { ...objectFields, ...bindingFields },
  {
    description:
      'Gives the rules of a role to users, groups and service accounts in one namespace.',
    numbers: [0, 0, 1, 2, 3],
  },
);
export type RoleBinding = KubeObject & s.Static<typeof roleBindingSchema>;
