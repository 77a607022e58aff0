import { type FieldError, invalid, required } from '../../meta/field-error.ts';
import type { PolicyRule } from './types.ts';

export function validateRules(
  rules: readonly PolicyRule[],
  options: { readonly namespaced: boolean },
): readonly FieldError[] {
  return rules.flatMap((rule, i) => validateRule(rule, `rules[${i}]`, options.namespaced));
}

function validateRule(rule: PolicyRule, field: string, namespaced: boolean): readonly FieldError[] {
  const { apiGroups = [], resources = [], nonResourceURLs = [] } = rule;
  const errors: FieldError[] = [];
  if ((rule.verbs ?? []).length === 0) {
    errors.push(required(`${field}.verbs`, 'verbs must contain at least one value'));
  }
  if (nonResourceURLs.length > 0) return [...errors, ...validatePaths(rule, field, namespaced)];
  if (apiGroups.length === 0) {
    const detail = 'resource rules must supply at least one api group';
    errors.push(required(`${field}.apiGroups`, detail));
  }
  if (resources.length === 0) {
    const detail = 'resource rules must supply at least one resource';
    errors.push(required(`${field}.resources`, detail));
  }
  return errors;
}

function validatePaths(
  rule: PolicyRule,
  field: string,
  namespaced: boolean,
): readonly FieldError[] {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const wrong: string[] = [];
  if (namespaced) wrong.push('namespaced rules cannot apply to non-resource URLs');
  if (apiGroups.length > 0 || resources.length > 0 || resourceNames.length > 0) {
    wrong.push('rules cannot apply to both regular resources and non-resource URLs');
  }
  return wrong.map((detail) => invalid(`${field}.nonResourceURLs`, nonResourceURLs, detail));
}
