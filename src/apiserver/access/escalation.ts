// Privilege escalation: users can only grant rights that they have. Checked on every write of a role or a role binding,
// before the object is validated. Kubernetes: pkg/registry/rbac.
import type { ClusterRole } from '../../kinds/cluster-role/types.ts';
import { type PolicyRule, type RoleRef, rbacGroup } from '../../kinds/rbac/types.ts';
import { type ApiError, badRequest, forbidden, notFound } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import { deepEqual } from '../../schema/equality.ts';
import { goQuote, goQuoteList } from '../../schema/go-quote.ts';
import type { Authorizer, UserRules } from './authorize.ts';
import type { Binding } from './grant-index.ts';
import { mastersGroup } from './known-users.ts';
import { describeRules, type MissingRules, missingRules } from './missing-rules.ts';
import type { User } from './user.ts';

export type EscalationCheck = {
  readonly user: User;
  readonly authorizer: Authorizer;
  readonly definition: { readonly group: string; readonly plural: string };
  /** Absent for a create. */
  readonly before?: KubeObject | undefined;
  readonly after: KubeObject;
  /** Of the request; empty for cluster-wide kinds. */
  readonly namespace: string;
  /** The name in the path of the request; a POST has none. */
  readonly pathName?: string;
};

/** Throws 403 when the write would give more than the user has; other kinds pass. */
export function checkEscalation(check: EscalationCheck): void {
  const { user, definition, before, after } = check;
  if (definition.group !== rbacGroup || user.groups.includes(mastersGroup)) return;
  switch (definition.plural) {
    case 'roles':
    case 'clusterroles':
      if (!mayEscalate(check) && !changesOnlyOwnerReferences(before, after)) checkRole(check);
      return;
    case 'rolebindings':
    case 'clusterrolebindings':
      if (!changesOnlyOwnerReferences(before, after)) checkBinding(check);
      return;
  }
}

/** The verb `escalate` on the role lifts the check. */
function mayEscalate({
  user,
  authorizer,
  definition,
  namespace,
  pathName = '',
}: EscalationCheck): boolean {
  return authorizer.authorize(user, {
    kind: 'resource',
    verb: 'escalate',
    group: definition.group,
    version: '*',
    resource: definition.plural,
    subresource: '',
    namespace,
    name: pathName,
  }).allowed;
}

/** The garbage collector may change owner references and finalizers of roles with more rights than it has. */
function changesOnlyOwnerReferences(before: KubeObject | undefined, after: KubeObject): boolean {
  if (before === undefined) return false;
  const { ownerReferences, finalizers, managedFields, ...rest } = before.metadata;
  const {
    ownerReferences: _owners,
    finalizers: _finalizers,
    managedFields: _managed,
    ...newRest
  } = after.metadata;
  return deepEqual({ ...before, metadata: rest }, { ...after, metadata: newRest });
}

/** Aggregation by label can add any rule, so it needs all rights. */
const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

function checkRole(check: EscalationCheck): void {
  const after = check.after as ClusterRole;
  requireHeld(check, after.rules ?? []);
  if (check.definition.plural !== 'clusterroles') return;
  if (!isAggregated(after) && !isAggregated(check.before as ClusterRole | undefined)) return;
  const userRules = check.authorizer.rulesFor(check.user, check.namespace);
  if (missingRules(userRules.rules, everything).parts.length > 0) {
    throw refuse(check, 'must have cluster-admin privileges to use the aggregationRule');
  }
}

function isAggregated(role: ClusterRole | undefined): boolean {
  return (role?.aggregationRule?.clusterRoleSelectors?.length ?? 0) > 0;
}

function checkBinding(check: EscalationCheck): void {
  const { authorizer, namespace } = check;
  const { roleRef } = check.after as Binding;
  if (mayBind(check, roleRef)) return;
  const rules = authorizer.roleRules(roleRef, namespace);
  if (rules === undefined) throw noSuchRole(roleRef);
  requireHeld(check, rules);
}

/** The verb `bind` on the role, in the namespace of the binding. */
function mayBind({ user, authorizer, namespace }: EscalationCheck, roleRef: RoleRef): boolean {
  const resource = resourceOf(roleRef);
  if (resource === undefined) return false;
  return authorizer.authorize(user, {
    kind: 'resource',
    verb: 'bind',
    group: roleRef.apiGroup,
    version: '*',
    resource,
    subresource: '',
    namespace,
    name: roleRef.name,
  }).allowed;
}

function resourceOf({ kind }: RoleRef): string | undefined {
  return kind === 'ClusterRole' ? 'clusterroles' : kind === 'Role' ? 'roles' : undefined;
}

function noSuchRole(roleRef: RoleRef): ApiError {
  const resource = resourceOf(roleRef);
  return resource === undefined
    ? badRequest(`unsupported role reference kind: ${goQuote(roleRef.kind)}`)
    : notFound({ group: rbacGroup, resource }, roleRef.name);
}

function requireHeld(check: EscalationCheck, wanted: readonly PolicyRule[]): void {
  const userRules = check.authorizer.rulesFor(check.user, check.namespace);
  const missing = missingRules(userRules.rules, wanted);
  if (missing.parts.length > 0) throw refuse(check, refusal(check.user, userRules, missing));
}

function refusal(user: User, userRules: UserRules, missing: MissingRules): string {
  const text = `user ${goQuote(user.name)} (groups=${goQuoteList(user.groups)}) is attempting to grant RBAC permissions not currently held:\n${describeRules(missing).join('\n')}`;
  if (userRules.missing.length === 0) return text;
  const unresolved = [...new Set(userRules.missing.map((role) => noSuchRole(role).message))];
  return `${text}; resolution errors: [${unresolved.length === 1 ? unresolved[0] : `[${unresolved.join(', ')}]`}]`;
}

function refuse({ definition, after }: EscalationCheck, why: string): ApiError {
  return forbidden(
    { group: definition.group, resource: definition.plural },
    after.metadata.name ?? '',
    why,
  );
}
