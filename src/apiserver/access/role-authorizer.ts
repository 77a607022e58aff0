// What role bindings give: role-based access control.
import type { ClusterRole } from '../../kinds/cluster-role/types.ts';
import { type PolicyRule, type RoleRef, rbacGroup } from '../../kinds/rbac/types.ts';
import type { Role } from '../../kinds/role/types.ts';
import { goQuote } from '../../schema/go-quote.ts';
import type { ObjectReader } from '../cache/object-reader.ts';
import { aggregateRules } from './aggregate-rules.ts';
import type { Authorizer, UserRules } from './authorize.ts';
import { cacheDecisions } from './decision-cache.ts';
import { type Binding, describeGrant, findGrant, type Grant, indexGrants } from './grant-index.ts';
import { keepCurrent } from './keep-current.ts';
import { ruleAllows } from './rbac-rules.ts';
import type { AccessAttributes, AccessDecision, User } from './user.ts';

const roles = `roles.${rbacGroup}`;
const clusterRoles = `clusterroles.${rbacGroup}`;
const roleBindings = `rolebindings.${rbacGroup}`;
const clusterRoleBindings = `clusterrolebindings.${rbacGroup}`;

const denied: AccessDecision = { allowed: false, reason: '' };

export function createRoleAuthorizer(reader: ObjectReader): Authorizer {
  const clusterGrants = keepCurrent(reader, [clusterRoleBindings], () =>
    indexGrants(reader.list(clusterRoleBindings) as readonly Binding[]),
  );
  const namespaceGrants = keepCurrent(reader, [roleBindings], () =>
    indexGrants(reader.list(roleBindings) as readonly Binding[]),
  );
  const knownRules = keepCurrent(
    reader,
    [roles, clusterRoles],
    () => new Map<Grant, readonly PolicyRule[] | undefined>(),
  );

  function roleRules(
    { kind, name }: RoleRef,
    namespace: string,
  ): readonly PolicyRule[] | undefined {
    if (kind === 'Role') {
      const role = reader.get(roles, namespace, name) as Role | undefined;
      return role === undefined ? undefined : (role.rules ?? []);
    }
    const role =
      kind === 'ClusterRole'
        ? (reader.get(clusterRoles, '', name) as ClusterRole | undefined)
        : undefined;
    if (role?.aggregationRule === undefined)
      return role === undefined ? undefined : (role.rules ?? []);
    return aggregateRules(role, reader.list(clusterRoles) as readonly ClusterRole[]);
  }

  function rulesOf(grant: Grant): readonly PolicyRule[] | undefined {
    const known = knownRules();
    if (known.has(grant)) return known.get(grant);
    const rules = roleRules(grant.binding.roleRef, grant.namespace);
    known.set(grant, rules);
    return rules;
  }

  /** Cluster-wide grants first, then those of the namespace. */
  function find(user: User, namespace: string, take: (grant: Grant) => boolean): Grant | undefined {
    const everywhere = findGrant(clusterGrants(), { user, namespace: '' }, take);
    if (everywhere !== undefined || namespace === '') return everywhere;
    return findGrant(namespaceGrants(), { user, namespace }, take);
  }

  function decide(user: User, asked: AccessAttributes): AccessDecision {
    const missing: RoleRef[] = [];
    const grant = find(user, asked.kind === 'resource' ? asked.namespace : '', (candidate) => {
      const rules = rulesOf(candidate);
      if (rules === undefined) missing.push(candidate.binding.roleRef);
      return rules?.some((rule) => ruleAllows(rule, asked)) ?? false;
    });
    if (grant !== undefined)
      return { allowed: true, reason: `RBAC: allowed by ${describeGrant(grant, user)}` };
    return missing.length === 0
      ? denied
      : { allowed: false, reason: `RBAC: ${missingText(missing)}` };
  }

  function rulesFor(user: User, namespace: string): UserRules {
    const found: PolicyRule[] = [];
    const missing: RoleRef[] = [];
    find(user, namespace, (grant) => {
      const rules = rulesOf(grant);
      if (rules === undefined) missing.push(grant.binding.roleRef);
      else found.push(...rules);
      return false;
    });
    return { rules: found, missing };
  }

  const known = keepCurrent(
    reader,
    [roles, clusterRoles, roleBindings, clusterRoleBindings],
    () => new Map<string, AccessDecision>(),
  );
  return { authorize: cacheDecisions(decide, known), rulesFor, roleRules };
}

/** One text for roles that could not be found, several in brackets. */
export function missingText(missing: readonly RoleRef[]): string {
  const texts = [...new Set(missing.map(({ kind, name }) => missingRole(kind, name)))];
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
}

function missingRole(kind: string, name: string): string {
  return kind === 'Role' || kind === 'ClusterRole'
    ? `${kind.toLowerCase()}.${rbacGroup} ${goQuote(name)} not found`
    : `unsupported role reference kind: ${goQuote(kind)}`;
}
