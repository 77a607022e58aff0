// Nobody can give rights that he does not have: checked on every write of a role or a role binding, before the
// object is validated. Kubernetes: pkg/registry/rbac.
import type { ClusterRole } from '../../kinds/cluster-role/types.ts';
import { type PolicyRule, type RoleRef, rbacGroup } from '../../kinds/rbac/types.ts';
import { type ApiError, badRequest, forbidden, notFound } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import { deepEqual } from '../../schema/equality.ts';
import { goQuote, goQuoteList } from '../../schema/go-quote.ts';
import type { Authorizer, UserRules } from './authorize.ts';
import type { Binding } from './grant-index.ts';
import { mastersGroup } from './known-users.ts';
import { describeRules, type MissingRules, missingRules } from './rule-coverage.ts';
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
      if (!mayEscalate(check) && !changesOnlyOwners(before, after)) checkRole(check);
      return;
    case 'rolebindings':
    case 'clusterrolebindings':
      if (!changesOnlyOwners(before, after)) checkBinding(check);
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

/** The garbage collector may do its work on roles that are above it. */
function changesOnlyOwners(before: KubeObject | undefined, after: KubeObject): boolean {
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

/** Selecting roles by label can gather anything, so it takes everything. */
const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

function checkRole(check: EscalationCheck): void {
  const after = check.after as ClusterRole;
  confirmHeld(check, after.rules ?? []);
  if (check.definition.plural !== 'clusterroles') return;
  if (!gathers(after) && !gathers(check.before as ClusterRole | undefined)) return;
  const owned = check.authorizer.rulesFor(check.user, check.namespace);
  if (missingRules(owned.rules, everything).parts.length > 0) {
    throw refuse(check, 'must have cluster-admin privileges to use the aggregationRule');
  }
}

function gathers(role: ClusterRole | undefined): boolean {
  return (role?.aggregationRule?.clusterRoleSelectors?.length ?? 0) > 0;
}

function checkBinding(check: EscalationCheck): void {
  const { authorizer, namespace } = check;
  const { roleRef } = check.after as Binding;
  if (mayBind(check, roleRef)) return;
  const rules = authorizer.roleRules(roleRef, namespace);
  if (rules === undefined) throw noSuchRole(roleRef);
  confirmHeld(check, rules);
}

/** The verb `bind` on the role that is given, asked where the binding will be. */
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

function confirmHeld(check: EscalationCheck, wanted: readonly PolicyRule[]): void {
  const owned = check.authorizer.rulesFor(check.user, check.namespace);
  const missing = missingRules(owned.rules, wanted);
  if (missing.parts.length > 0) throw refuse(check, refusal(check.user, owned, missing));
}

function refusal(user: User, owned: UserRules, missing: MissingRules): string {
  const text = `user ${goQuote(user.name)} (groups=${goQuoteList(user.groups)}) is attempting to grant RBAC permissions not currently held:\n${describeRules(missing).join('\n')}`;
  if (owned.missing.length === 0) return text;
  const unresolved = [...new Set(owned.missing.map((role) => noSuchRole(role).message))];
  return `${text}; resolution errors: [${unresolved.length === 1 ? unresolved[0] : `[${unresolved.join(', ')}]`}]`;
}

function refuse({ definition, after }: EscalationCheck, why: string): ApiError {
  return forbidden(
    { group: definition.group, resource: definition.plural },
    after.metadata.name ?? '',
    why,
  );
}
