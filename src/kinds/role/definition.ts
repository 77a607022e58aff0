import type { FieldError } from '../../meta/field-error.ts';
import { nameIsPathSegment } from '../../meta/names.ts';
import type { KindDefinition } from '../definition.ts';
import { createdAtColumn, nameColumn } from '../metadata-columns.ts';
import { rbacGroup } from '../rbac/types.ts';
import { validateRules } from '../rbac/validate-rules.ts';
import { type Role, roleSchema } from './types.ts';

export const roleDefinition: KindDefinition<Role> = {
  group: rbacGroup,
  version: 'v1',
  kind: 'Role',
  plural: 'roles',
  singular: 'role',
  namespaced: true,
  schema: roleSchema,
  nameRule: nameIsPathSegment,
  create: { validateCreate: validateRole },
  update: { validateUpdate: (_before, after) => validateRole(after) },
  createsOnUpdate: true,
  columns: [nameColumn, createdAtColumn],
  fieldSelectorError: 'known',
};

function validateRole({ rules }: Role): readonly FieldError[] {
  return validateRules(rules ?? [], { namespaced: true });
}
