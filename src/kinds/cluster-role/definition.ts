import { type FieldError, invalid, required } from '../../meta/field-error.ts';
import { validateLabelSelector } from '../../meta/labels.ts';
import { nameIsPathSegment } from '../../meta/names.ts';
import type { KindDefinition } from '../definition.ts';
import { createdAtColumn, nameColumn } from '../metadata-columns.ts';
import { rbacGroup } from '../rbac/types.ts';
import { validateRules } from '../rbac/validate-rules.ts';
import { type ClusterRole, clusterRoleSchema } from './types.ts';

export const clusterRoleDefinition: KindDefinition<ClusterRole> = {
  group: rbacGroup,
  version: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  singular: 'clusterrole',
  namespaced: false,
  schema: clusterRoleSchema,
  nameRule: nameIsPathSegment,
  create: { validateCreate: validateClusterRole },
  update: { validateUpdate: (_before, after) => validateClusterRole(after) },
  createsOnUpdate: true,
  columns: [nameColumn, createdAtColumn],
  fieldSelectorError: 'known',
};

function validateClusterRole(role: ClusterRole): readonly FieldError[] {
  return [...validateRules(role.rules ?? [], { namespaced: false }), ...validateAggregation(role)];
}

function validateAggregation({ aggregationRule }: ClusterRole): readonly FieldError[] {
  if (aggregationRule === undefined) return [];
  const field = 'aggregationRule.clusterRoleSelectors';
  const selectors = aggregationRule.clusterRoleSelectors ?? [];
  if (selectors.length === 0) {
    const detail = 'at least one clusterRoleSelector required if aggregationRule is non-nil';
    return [required(field, detail)];
  }
  return selectors.flatMap((selector, i) => {
    const wrong = validateLabelSelector(selector, `${field}[${i}]`);
    return wrong.length === 0
      ? []
      : [...wrong, invalid(`${field}[${i}]`, null, 'invalid label selector.')];
  });
}
