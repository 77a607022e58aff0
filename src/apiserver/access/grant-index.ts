// Indexes role bindings by subject, so that a decision reads only those of the user.
import type { Subject } from '../../kinds/rbac/types.ts';
import type { RoleBinding } from '../../kinds/role-binding/types.ts';
import { goQuote } from '../../schema/go-quote.ts';
import { serviceAccountUser } from './known-users.ts';
import type { User } from './user.ts';

/** Of both kinds: a cluster role binding has the same fields without a namespace. */
export type Binding = RoleBinding;

export type Grant = {
  readonly binding: Binding;
  /** Empty for cluster role bindings. */
  readonly namespace: string;
};

type Grants = ReadonlyMap<string, readonly Grant[]>;
type BySubject = {
  readonly users: Grants;
  readonly groups: Grants;
  /** Of bindings with many subjects. */
  readonly wide: readonly WideGrant[];
};
type WideGrant = { readonly grant: Grant } & Members;
type Members = { readonly users: ReadonlySet<string>; readonly groups: ReadonlySet<string> };
/** By namespace; cluster role bindings under the empty one. */
export type GrantIndex = ReadonlyMap<string, BySubject>;

/**
 * The index is made anew after each change of a binding, which must not cost more than there are bindings: those with
 * more subjects are not in its maps, and are searched one by one in sets that are made once for each of them.
 */
const maxIndexedSubjects = 8;

type GrowingSubjects = {
  readonly users: Map<string, Grant[]>;
  readonly groups: Map<string, Grant[]>;
  readonly wide: WideGrant[];
};
const emptySubjects = (): GrowingSubjects => ({ users: new Map(), groups: new Map(), wide: [] });

export function indexGrants(bindings: readonly Binding[]): GrantIndex {
  const index = new Map<string, GrowingSubjects>();
  for (const binding of bindings) {
    const namespace = binding.metadata.namespace ?? '';
    const grant: Grant = { binding, namespace };
    const bySubject = index.get(namespace) ?? emptySubjects();
    index.set(namespace, bySubject);
    const subjects = binding.subjects ?? [];
    if (subjects.length > maxIndexedSubjects) {
      bySubject.wide.push({ grant, ...membersOf(binding) });
      continue;
    }
    for (const subject of subjects) {
      const user = userOf(subject, namespace);
      if (user !== undefined) add(bySubject.users, user, grant);
      else if (subject.kind === 'Group') add(bySubject.groups, subject.name, grant);
    }
  }
  return index;
}

function add(map: Map<string, Grant[]>, key: string, grant: Grant): void {
  const found = map.get(key);
  if (found === undefined) map.set(key, [grant]);
  // Two subjects of one binding may name the same user; they come one after the other.
  else if (found.at(-1) !== grant) found.push(grant);
}

/** Bindings never change in bySubject. */
const knownMembers = new WeakMap<Binding, Members>();

function membersOf(binding: Binding): Members {
  let members = knownMembers.get(binding);
  if (members === undefined) {
    members = collectMembers(binding);
    knownMembers.set(binding, members);
  }
  return members;
}

function collectMembers({ metadata, subjects }: Binding): Members {
  const users = new Set<string>();
  const groups = new Set<string>();
  for (const subject of subjects ?? []) {
    const user = userOf(subject, metadata.namespace ?? '');
    if (user !== undefined) users.add(user);
    else if (subject.kind === 'Group') groups.add(subject.name);
  }
  return { users, groups };
}

/** The user that a subject names; undefined for groups and for service accounts without a namespace. */
function userOf(subject: Subject, bindingNamespace: string): string | undefined {
  if (subject.kind === 'User') return subject.name;
  if (subject.kind !== 'ServiceAccount') return undefined;
  const namespace = accountNamespace(subject, bindingNamespace);
  return namespace === '' ? undefined : serviceAccountUser({ namespace, name: subject.name });
}

function accountNamespace(subject: Subject, bindingNamespace: string): string {
  return subject.namespace || bindingNamespace;
}

/** The first grant to the user in the namespace that `accept` accepts. */
export function findGrant(
  index: GrantIndex,
  { user, namespace }: { readonly user: User; readonly namespace: string },
  accept: (grant: Grant) => boolean,
): Grant | undefined {
  const bySubject = index.get(namespace);
  if (bySubject === undefined) return undefined;
  const own = bySubject.users.get(user.name)?.find(accept);
  if (own !== undefined) return own;
  for (const group of user.groups) {
    const shared = bySubject.groups.get(group)?.find(accept);
    if (shared !== undefined) return shared;
  }
  return bySubject.wide.find(
    ({ grant, users, groups }) =>
      (users.has(user.name) || user.groups.some((group) => groups.has(group))) && accept(grant),
  )?.grant;
}

/** `RoleBinding "b/ns" of Role "r" to User "u"`, naming the first subject that refers to the user. */
export function describeGrant({ binding, namespace }: Grant, user: User): string {
  const { name: own = '' } = binding.metadata;
  const name = goQuote(namespace === '' ? own : `${own}/${namespace}`);
  const kind = namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding';
  const { roleRef } = binding;
  const subject = binding.subjects?.find((candidate) => refersTo(candidate, user, namespace));
  const whom = subject === undefined ? '' : ` to ${describeSubject(subject, namespace)}`;
  return `${kind} ${name} of ${roleRef.kind} ${goQuote(roleRef.name)}${whom}`;
}

function refersTo(subject: Subject, user: User, bindingNamespace: string): boolean {
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
