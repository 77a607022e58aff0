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
import { type RoleBinding, roleBindingSchema } from './types.ts';

const scope: BindingScope = { namespaced: true, roleKinds: ['Role', 'ClusterRole'] };

export const roleBindingDefinition: KindDefinition<RoleBinding> = {
  group: rbacGroup,
  version: 'v1',
  kind: 'RoleBinding',
  plural: 'rolebindings',
  singular: 'rolebinding',
  namespaced: true,
  schema: roleBindingSchema,
  nameRule: nameIsPathSegment,
  defaults: defaultBinding,
  create: { validateCreate: (binding) => validateBinding(binding, scope) },
  update: { validateUpdate: (before, after) => validateBindingUpdate(before, after, scope) },
  createsOnUpdate: true,
  columns: bindingColumns(
    'roleBinding',
    'RoleRef can reference a Role in the current namespace or a ClusterRole in the global namespace. If the RoleRef cannot be resolved, the Authorizer must return an error.',
  ),
  fieldSelectorError: 'known',
};
