// Role-based access control: what role bindings grant.
import type { ClusterRole } from '../../kinds/cluster-role/types.ts';
import { type PolicyRule, type RoleRef, rbacGroup } from '../../kinds/rbac/types.ts';
import type { Role } from '../../kinds/role/types.ts';
import { goQuote } from '../../schema/go-quote.ts';
import type { ObjectReader } from '../cache/object-reader.ts';
import { createAggregation } from './aggregate-rules.ts';
import type { Authorizer, UserRules } from './authorize.ts';
import { cacheByRevision } from './cache-by-revision.ts';
import { cacheDecisions } from './decision-cache.ts';
import { type Binding, describeGrant, findGrant, type Grant, indexGrants } from './grant-index.ts';
import { ruleAllows } from './rbac-rules.ts';
import type { AccessAttributes, AccessDecision, User } from './user.ts';

const roles = `roles.${rbacGroup}`;
const clusterRoles = `clusterroles.${rbacGroup}`;
const roleBindings = `rolebindings.${rbacGroup}`;
const clusterRoleBindings = `clusterrolebindings.${rbacGroup}`;

/** More than anybody has who was not granted the same role again and again. */
const manyRules = 10_000;

const denied: AccessDecision = { allowed: false, reason: '' };

export function createRoleAuthorizer(reader: ObjectReader): Authorizer {
  const clusterGrants = cacheByRevision(reader, [clusterRoleBindings], () =>
    indexGrants(reader.list(clusterRoleBindings) as readonly Binding[]),
  );
  const namespaceGrants = cacheByRevision(reader, [roleBindings], () =>
    indexGrants(reader.list(roleBindings) as readonly Binding[]),
  );
  const knownRules = cacheByRevision(
    reader,
    [roles, clusterRoles],
    () => new Map<string, readonly PolicyRule[] | undefined>(),
  );

  const aggregation = cacheByRevision(reader, [clusterRoles], () =>
    createAggregation(reader.list(clusterRoles) as readonly ClusterRole[]),
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
    return aggregation().rulesOf(role);
  }

  /** The rules of a role, read once for all who are bound to it. */
  function rulesOf({ binding, namespace }: Grant): readonly PolicyRule[] | undefined {
    const known = knownRules();
    const key = roleKey(binding.roleRef, namespace);
    if (known.has(key)) return known.get(key);
    const rules = roleRules(binding.roleRef, namespace);
    known.set(key, rules);
    return rules;
  }

  /** Cluster-wide grants first, then those of the namespace. */
  function find(user: User, namespace: string, take: (grant: Grant) => boolean): Grant | undefined {
    const everywhere = findGrant(clusterGrants(), { user, namespace: '' }, take);
    if (everywhere !== undefined || namespace === '') return everywhere;
    return findGrant(namespaceGrants(), { user, namespace }, take);
  }

  const granted: GrantedRoles = { find, rulesOf };
  const known = cacheByRevision(
    reader,
    [roles, clusterRoles, roleBindings, clusterRoleBindings],
    () => new Map<string, AccessDecision>(),
  );
  return {
    authorize: cacheDecisions((user, attributes) => decide(granted, user, attributes), known),
    rulesFor: (user, namespace) => listRules(granted, user, namespace),
    roleRules,
  };
}

type GrantedRoles = {
  /** The first grant of the user that `take` accepts. */
  readonly find: (
    user: User,
    namespace: string,
    take: (grant: Grant) => boolean,
  ) => Grant | undefined;
  /** The same list for the same role. */
  readonly rulesOf: (grant: Grant) => readonly PolicyRule[] | undefined;
};

function decide(
  { find, rulesOf }: GrantedRoles,
  user: User,
  attributes: AccessAttributes,
): AccessDecision {
  const missing: RoleRef[] = [];
  // Thousands of bindings may grant one role, which may be as large as a request body.
  const tried = new Set<readonly PolicyRule[]>();
  const grant = find(
    user,
    attributes.kind === 'resource' ? attributes.namespace : '',
    (candidate) => {
      const rules = rulesOf(candidate);
      if (rules === undefined) missing.push(candidate.binding.roleRef);
      if (rules === undefined || tried.has(rules)) return false;
      tried.add(rules);
      return rules.some((rule) => ruleAllows(rule, attributes));
    },
  );
  if (grant !== undefined)
    return { allowed: true, reason: `RBAC: allowed by ${describeGrant(grant, user)}` };
  return missing.length === 0
    ? denied
    : { allowed: false, reason: `RBAC: ${missingText(missing)}` };
}

function listRules({ find, rulesOf }: GrantedRoles, user: User, namespace: string): UserRules {
  const found: PolicyRule[] = [];
  const missing: RoleRef[] = [];
  const listed = new Set<readonly PolicyRule[]>();
  find(user, namespace, (grant) => {
    const rules = rulesOf(grant);
    if (rules === undefined) missing.push(grant.binding.roleRef);
    // As upstream, a role that is granted twice is listed twice; but not thousands of times.
    else if (found.length < manyRules || !listed.has(rules)) {
      listed.add(rules);
      for (const rule of rules) found.push(rule);
    }
    return false;
  });
  return { rules: found, missing };
}

/** Unique: kinds and names contain no slash. */
const roleKey = ({ kind, name }: RoleRef, namespace: string): string =>
  kind === 'Role' ? `${namespace}/${name}` : `${kind}//${name}`;

/** Bounds the list of missing roles in a message. */
const maxMissingShown = 100;

/** One message for missing roles, several in brackets. */
export function missingText(missing: readonly RoleRef[]): string {
  const shown = missing.slice(0, maxMissingShown);
  const texts = [...new Set(shown.map(({ kind, name }) => missingRole(kind, name)))];
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
}

function missingRole(kind: string, name: string): string {
  return kind === 'Role' || kind === 'ClusterRole'
    ? `${kind.toLowerCase()}.${rbacGroup} ${goQuote(name)} not found`
    : `unsupported role reference kind: ${goQuote(kind)}`;
}
