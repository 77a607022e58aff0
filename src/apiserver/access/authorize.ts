// Who may do what: the group system:masters everything, nodes what is theirs, everybody what role bindings give.
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
  /** The rules of one role as seen from a binding in `namespace`; undefined when there is no such role. */
  readonly roleRules: (role: RoleRef, namespace: string) => readonly PolicyRule[] | undefined;
};

export type UserRules = {
  readonly rules: readonly PolicyRule[];
  /** Roles that bindings of the user name, but that do not exist. */
  readonly missing: readonly RoleRef[];
  /** Why there may be more than these. */
  readonly incomplete?: string;
};

const unconditional: AccessDecision = { allowed: true, reason: '' };

export function createAuthorizer(reader: ObjectReader): Authorizer {
  const roles = createRoleAuthorizer(reader);

  function authorize(user: User, asked: AccessAttributes): AccessDecision {
    if (user.groups.includes(mastersGroup)) return unconditional;
    const asNode = authorizeNode(reader, user, asked);
    if (asNode.allowed) return asNode;
    const byRole = roles.authorize(user, asked);
    if (byRole.allowed || asNode.reason === '') return byRole;
    return { allowed: false, reason: [asNode.reason, byRole.reason].filter(Boolean).join('\n') };
  }

  /** Those of a node depend on pods, so they cannot be listed. */
  function rulesFor(user: User, namespace: string): UserRules {
    const known = roles.rulesFor(user, namespace);
    return nodeIdentity(user) === undefined
      ? known
      : { ...known, incomplete: 'node authorizer does not support user rule resolution' };
  }

  return { authorize, rulesFor, roleRules: roles.roleRules };
}
