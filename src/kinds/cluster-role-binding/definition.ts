import { nameIsPathSegment } from '../../meta/names.ts';
import type { KindDefinition } from '../definition.ts';
import {
  type BindingScope,
  defaultBinding,
  validateBinding,
  validateBindingUpdate,
} from '../rbac/binding.ts';
import { bindingColumns } from '../rbac/binding-columns.ts';
import { rbacGroup } from '../rbac/types.ts';
import { type ClusterRoleBinding, clusterRoleBindingSchema } from './types.ts';

const scope: BindingScope = { namespaced: false, roleKinds: ['ClusterRole'] };

export const clusterRoleBindingDefinition: KindDefinition<ClusterRoleBinding> = {
  group: rbacGroup,
  version: 'v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  singular: 'clusterrolebinding',
  namespaced: false,
  schema: clusterRoleBindingSchema,
  nameRule: nameIsPathSegment,
  defaults: defaultBinding,
  create: { validateCreate: (binding) => validateBinding(binding, scope) },
  update: { validateUpdate: (before, after) => validateBindingUpdate(before, after, scope) },
  createsOnUpdate: true,
  columns: bindingColumns(
    'clusterRoleBinding',
    'RoleRef can only reference a ClusterRole in the global namespace. If the RoleRef cannot be resolved, the Authorizer must return an error.',
  ),
  fieldSelectorError: 'known',
};
