// Which rule of the policy holds for a request: the first that matches. Kubernetes: apiserver/pkg/audit/policy.
import type { AccessAttributes, User } from '../access/user.ts';
import type { AuditLevel, AuditPolicy, AuditResources, AuditRule, AuditStage } from './policy.ts';

export type RequestAudit = {
  readonly level: AuditLevel;
  readonly omitStages: readonly AuditStage[];
  readonly omitManagedFields: boolean;
};

export type Audited = { readonly user: User | undefined; readonly asked: AccessAttributes };

const nothing: RequestAudit = { level: 'None', omitStages: [], omitManagedFields: false };

/** For every rule the wish is the same object each time: matching is what a request costs, not making. */
export function createPolicyMatcher(policy: AuditPolicy): (audited: Audited) => RequestAudit {
  const wishes = policy.rules.map((rule) => ({ rule, wish: wishOf(policy, rule) }));
  return (audited) => wishes.find(({ rule }) => ruleMatches(rule, audited))?.wish ?? nothing;
}

function wishOf(policy: AuditPolicy, rule: AuditRule): RequestAudit {
  return {
    level: rule.level,
    omitStages: [...new Set([...policy.omitStages, ...rule.omitStages])],
    omitManagedFields: rule.omitManagedFields ?? policy.omitManagedFields,
  };
}

function ruleMatches(rule: AuditRule, { user, asked }: Audited): boolean {
  if (rule.users.length > 0 && !(user !== undefined && rule.users.includes(user.name)))
    return false;
  if (rule.userGroups.length > 0 && !user?.groups.some((group) => rule.userGroups.includes(group)))
    return false;
  if (rule.verbs.length > 0 && !rule.verbs.includes(asked.verb)) return false;
  if (rule.namespaces.length > 0 || rule.resources.length > 0) return matchesResource(rule, asked);
  if (rule.nonResourceURLs.length > 0)
    return (
      asked.kind === 'path' && rule.nonResourceURLs.some((ruled) => matchesUrl(ruled, asked.path))
    );
  return true;
}

/** The empty namespace stands for what is in none. */
function matchesResource(rule: AuditRule, asked: AccessAttributes): boolean {
  if (asked.kind === 'path') return false;
  if (rule.namespaces.length > 0 && !rule.namespaces.includes(asked.namespace)) return false;
  return rule.resources.length === 0 || rule.resources.some((ruled) => covers(ruled, asked));
}

type Target = Extract<AccessAttributes, { kind: 'resource' }>;

function covers({ group, resources, resourceNames }: AuditResources, asked: Target): boolean {
  if (group !== asked.group) return false;
  if (resources.length === 0) return true;
  if (resourceNames.length > 0 && !resourceNames.includes(asked.name)) return false;
  return resources.some((ruled) => matchesName(ruled, asked));
}

/** `pods`, `pods/log`, a resource with all its subresources, one subresource of everything, or everything. */
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
