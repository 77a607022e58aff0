// What one policy rule allows. Kubernetes: component-helpers/auth/rbac/validation.
import type { PolicyRule } from '../../kinds/rbac/types.ts';
import { trimEnd } from '../../meta/trim-end.ts';
import type { AccessAttributes } from './user.ts';

export function ruleAllows(rule: PolicyRule, attributes: AccessAttributes): boolean {
  if (!lists(rule.verbs, attributes.verb)) return false;
  if (attributes.kind === 'path')
    return (rule.nonResourceURLs ?? []).some((url) => urlMatches(url, attributes.path));
  return (
    lists(rule.apiGroups, attributes.group) &&
    (rule.resources ?? []).some((resource) => resourceMatches(resource, attributes)) &&
    nameMatches(rule.resourceNames, attributes.name)
  );
}

function lists(values: readonly string[] | null | undefined, wanted: string): boolean {
  if (values === undefined || values === null) return false;
  return values.includes(wanted) || values.includes('*');
}

type Target = { readonly resource: string; readonly subresource: string };

/** `pods`, `pods/status`, `*` for everything, and `*` with a subresource for that subresource of all resources. */
function resourceMatches(ruled: string, { resource, subresource }: Target): boolean {
  if (ruled === '*') return true;
  if (subresource === '') return ruled === resource;
  return (
    ruled === `*/${subresource}` ||
    (ruled.length === resource.length + 1 + subresource.length &&
      ruled === `${resource}/${subresource}`)
  );
}

/** No names means every name; a request without a name (list, create) matches no list of names. */
function nameMatches(names: readonly string[] | undefined, wanted: string): boolean {
  return names === undefined || names.length === 0 || names.includes(wanted);
}

export function urlMatches(ruled: string, path: string): boolean {
  if (ruled === '*' || ruled === path) return true;
  return ruled.endsWith('*') && path.startsWith(trimEnd(ruled, '*'));
}
