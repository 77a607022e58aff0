import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { bindingFields } from '../rbac/types.ts';

export const clusterRoleBindingSchema = s.struct('ClusterRoleBinding', {
  ...objectFields,
  ...bindingFields,
});
export type ClusterRoleBinding = KubeObject & s.Static<typeof clusterRoleBindingSchema>;
