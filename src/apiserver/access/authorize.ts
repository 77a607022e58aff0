// Authorization: the group system:masters may do everything; then the node authorizer, then role bindings.
import type { PolicyRule, RoleRef } from '../../kinds/rbac/types.ts';
import type { ObjectReader } from '../cache/object-reader.ts';
import { mastersGroup, nodeIdentity } from './known-users.ts';
import { authorizeNode } from './node-authorizer.ts';
import { createRoleAuthorizer } from './role-authorizer.ts';
import type { AccessAttributes, AccessDecision, User } from './user.ts';

export type Authorizer = {
  readonly authorize: (user: User, attributes: AccessAttributes) => AccessDecision;
  /** All rules that hold for the user in a namespace, those for the whole cluster included. */
  readonly rulesFor: (user: User, namespace: string) => UserRules;
  /** The rules of a role that a binding in `namespace` refers to; undefined when there is no such role. */
  readonly roleRules: (role: RoleRef, namespace: string) => readonly PolicyRule[] | undefined;
};

export type UserRules = {
  readonly rules: readonly PolicyRule[];
  /** Roles that bindings of the user refer to, but that do not exist. */
  readonly missing: readonly RoleRef[];
  /** Why there may be further rules. */
  readonly incomplete?: string;
};

const unconditional: AccessDecision = { allowed: true, reason: '' };

export function createAuthorizer(reader: ObjectReader): Authorizer {
  const roles = createRoleAuthorizer(reader);

  function authorize(user: User, attributes: AccessAttributes): AccessDecision {
    if (user.groups.includes(mastersGroup)) return unconditional;
    const asNode = authorizeNode(reader, user, attributes);
    if (asNode.allowed) return asNode;
    const byRole = roles.authorize(user, attributes);
    if (byRole.allowed || asNode.reason === '') return byRole;
    return { allowed: false, reason: [asNode.reason, byRole.reason].filter(Boolean).join('\n') };
  }

  /** What a node may do depends on its pods, so it cannot be listed as rules. */
  function rulesFor(user: User, namespace: string): UserRules {
    const known = roles.rulesFor(user, namespace);
    return nodeIdentity(user) === undefined
      ? known
      : { ...known, incomplete: 'node authorizer does not support user rule resolution' };
  }

  return { authorize, rulesFor, roleRules: roles.roleRules };
}
