// Role bindings by whom they give something to, so that a decision looks only at those of the user.

import type { Subject } from '../../kinds/rbac/types.ts';
import type { RoleBinding } from '../../kinds/role-binding/types.ts';
import { goQuote } from '../../schema/go-quote.ts';
import { serviceAccountUser } from './known-users.ts';
import type { User } from './user.ts';

/** Of either scope: a cluster role binding is the same without a namespace. */
export type Binding = RoleBinding;

export type Grant = {
  readonly binding: Binding;
  /** Empty for cluster role bindings. */
  readonly namespace: string;
};

type Grants = ReadonlyMap<string, readonly Grant[]>;
type BySubject = { readonly users: Grants; readonly groups: Grants };
/** By namespace; cluster role bindings under the empty one. */
export type GrantIndex = ReadonlyMap<string, BySubject>;

export function indexGrants(bindings: readonly Binding[]): GrantIndex {
  const index = new Map<string, { users: Map<string, Grant[]>; groups: Map<string, Grant[]> }>();
  for (const binding of bindings) {
    const namespace = binding.metadata.namespace ?? '';
    const grant: Grant = { binding, namespace };
    const place = index.get(namespace) ?? { users: new Map(), groups: new Map() };
    index.set(namespace, place);
    for (const subject of binding.subjects ?? []) {
      const user = userOf(subject, namespace);
      if (user !== undefined) add(place.users, user, grant);
      else if (subject.kind === 'Group') add(place.groups, subject.name, grant);
    }
  }
  return index;
}

function add(map: Map<string, Grant[]>, key: string, grant: Grant): void {
  const found = map.get(key);
  if (found === undefined) map.set(key, [grant]);
  // Two subjects of one binding may name the same user.
  else if (!found.includes(grant)) found.push(grant);
}

/** The user that a subject names; undefined for groups and for accounts of no namespace. */
function userOf(subject: Subject, bindingNamespace: string): string | undefined {
  if (subject.kind === 'User') return subject.name;
  if (subject.kind !== 'ServiceAccount') return undefined;
  const namespace = accountNamespace(subject, bindingNamespace);
  return namespace === '' ? undefined : serviceAccountUser({ namespace, name: subject.name });
}

function accountNamespace(subject: Subject, bindingNamespace: string): string {
  return subject.namespace || bindingNamespace;
}

/** Shows each grant that applies to the user there until one is taken; the one taken. */
export function findGrant(
  index: GrantIndex,
  { user, namespace }: { readonly user: User; readonly namespace: string },
  take: (grant: Grant) => boolean,
): Grant | undefined {
  const place = index.get(namespace);
  if (place === undefined) return undefined;
  const own = place.users.get(user.name)?.find(take);
  if (own !== undefined) return own;
  for (const group of user.groups) {
    const shared = place.groups.get(group)?.find(take);
    if (shared !== undefined) return shared;
  }
  return undefined;
}

/** `RoleBinding "b/ns" of Role "r" to User "u"`, naming the first subject that means the user. */
export function describeGrant({ binding, namespace }: Grant, user: User): string {
  const { name: own = '' } = binding.metadata;
  const name = goQuote(namespace === '' ? own : `${own}/${namespace}`);
  const kind = namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding';
  const { roleRef } = binding;
  const subject = binding.subjects?.find((candidate) => means(candidate, user, namespace));
  const whom = subject === undefined ? '' : ` to ${describeSubject(subject, namespace)}`;
  return `${kind} ${name} of ${roleRef.kind} ${goQuote(roleRef.name)}${whom}`;
}

function means(subject: Subject, user: User, bindingNamespace: string): boolean {
  if (subject.kind === 'Group') return user.groups.includes(subject.name);
  return userOf(subject, bindingNamespace) === user.name;
}

function describeSubject(subject: Subject, bindingNamespace: string): string {
  const name =
    subject.kind === 'ServiceAccount'
      ? `${subject.name}/${accountNamespace(subject, bindingNamespace)}`
      : subject.name;
  return `${subject.kind} ${goQuote(name)}`;
}
