import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { bindingFields } from '../rbac/types.ts';

export const clusterRoleBindingSchema = s.struct(
  'ClusterRoleBinding',
  {
    ...objectFields,
    ...bindingFields,
  },
  {
    description:
      'Gives the rules of a cluster role to users, groups and service accounts in all namespaces.',
    numbers: [0, 0, 1, 2, 3],
  },
);
export type ClusterRoleBinding = KubeObject & s.Static<typeof clusterRoleBindingSchema>;
