// The rule of the policy that applies to a request: the first that matches. Kubernetes: apiserver/pkg/audit/policy.
import type { AccessAttributes, User } from '../access/user.ts';
import type { AuditLevel, AuditPolicy, AuditResources, AuditRule, AuditStage } from './policy.ts';

export type RequestAudit = {
  readonly level: AuditLevel;
  readonly omitStages: readonly AuditStage[];
  readonly omitManagedFields: boolean;
};

export type Audited = { readonly user: User | undefined; readonly attributes: AccessAttributes };

const nothing: RequestAudit = { level: 'None', omitStages: [], omitManagedFields: false };

/** The result for a rule is created once: a request costs only the matching. */
export function createPolicyMatcher(policy: AuditPolicy): (audited: Audited) => RequestAudit {
  const rules = policy.rules.map((rule) => ({ rule, audit: auditOf(policy, rule) }));
  return (audited) => rules.find(({ rule }) => ruleMatches(rule, audited))?.audit ?? nothing;
}

function auditOf(policy: AuditPolicy, rule: AuditRule): RequestAudit {
  return {
    level: rule.level,
    omitStages: [...new Set([...policy.omitStages, ...rule.omitStages])],
    omitManagedFields: rule.omitManagedFields ?? policy.omitManagedFields,
  };
}

function ruleMatches(rule: AuditRule, { user, attributes }: Audited): boolean {
  if (rule.users.length > 0 && !(user !== undefined && rule.users.includes(user.name)))
    return false;
  if (rule.userGroups.length > 0 && !user?.groups.some((group) => rule.userGroups.includes(group)))
    return false;
  if (rule.verbs.length > 0 && !rule.verbs.includes(attributes.verb)) return false;
  if (rule.namespaces.length > 0 || rule.resources.length > 0)
    return matchesResource(rule, attributes);
  if (rule.nonResourceURLs.length > 0)
    return (
      attributes.kind === 'path' &&
      rule.nonResourceURLs.some((ruled) => matchesUrl(ruled, attributes.path))
    );
  return true;
}

/** An empty namespace matches requests without one. */
function matchesResource(rule: AuditRule, attributes: AccessAttributes): boolean {
  if (attributes.kind === 'path') return false;
  if (rule.namespaces.length > 0 && !rule.namespaces.includes(attributes.namespace)) return false;
  return rule.resources.length === 0 || rule.resources.some((ruled) => covers(ruled, attributes));
}

type Target = Extract<AccessAttributes, { kind: 'resource' }>;

function covers({ group, resources, resourceNames }: AuditResources, attributes: Target): boolean {
  if (group !== attributes.group) return false;
  if (resources.length === 0) return true;
  if (resourceNames.length > 0 && !resourceNames.includes(attributes.name)) return false;
  return resources.some((ruled) => matchesName(ruled, attributes));
}

/** `pods`, `pods/log`, `pods/*` (all subresources), a subresource of all resources, or `*` for everything. */
function matchesName(ruled: string, { resource, subresource }: Target): boolean {
  if (ruled === '*') return true;
  if (ruled === (subresource === '' ? resource : `${resource}/${subresource}`)) return true;
  if (subresource === '') return false;
  return ruled === `*/${subresource}` || ruled === `${resource}/*`;
}

function matchesUrl(ruled: string, path: string): boolean {
  if (ruled === '*' || ruled === path) return true;
  return ruled.endsWith('*') && path.startsWith(ruled.slice(0, -1));
}
