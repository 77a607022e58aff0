// Builders for tests: roles, bindings and a reader over them.
import type { ClusterRole } from '../../kinds/cluster-role/types.ts';
import { type PolicyRule, rbacGroup, type Subject } from '../../kinds/rbac/types.ts';
import type { Role } from '../../kinds/role/types.ts';
import { groupResource, type KubeObject } from '../../meta/object.ts';
import type { ObjectReader } from '../cache/object-reader.ts';
import type { Binding } from './grant-index.ts';
import type { AccessAttributes, User } from './user.ts';

const apiVersion = `${rbacGroup}/v1`;

export function exampleRole(namespace: string, name: string, rules: readonly PolicyRule[]): Role {
  return { kind: 'Role', apiVersion, metadata: { name, namespace }, rules };
}

export function exampleClusterRole(
  name: string,
  rules: readonly PolicyRule[],
  more: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly gathers?: readonly string[];
  } = {},
): ClusterRole {
  const { labels, gathers } = more;
  return {
    kind: 'ClusterRole',
    apiVersion,
    metadata: { name, ...(labels === undefined ? {} : { labels }) },
    rules,
    ...(gathers === undefined
      ? {}
      : {
          aggregationRule: {
            clusterRoleSelectors: gathers.map((label) => ({ matchLabels: { [label]: 'true' } })),
          },
        }),
  };
}

/** `role` is `Role/name` or `ClusterRole/name`; without a namespace the binding is cluster-wide. */
export function exampleBinding(options: {
  readonly namespace?: string;
  readonly name: string;
  readonly role: string;
  readonly subjects: readonly Subject[];
}): Binding {
  const [kind = '', name = ''] = options.role.split('/');
  const namespace = options.namespace === undefined ? {} : { namespace: options.namespace };
  return {
    kind: options.namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
    apiVersion,
    metadata: { name: options.name, ...namespace },
    subjects: options.subjects,
    roleRef: { apiGroup: rbacGroup, kind, name },
  };
}

export const toUser = (name: string): Subject => ({ kind: 'User', apiGroup: rbacGroup, name });
export const toGroup = (name: string): Subject => ({ kind: 'Group', apiGroup: rbacGroup, name });

export const exampleUser = (name: string, ...groups: readonly string[]): User => ({ name, groups });

/** `get pods`, `update services/status x in ns`, `list nodes`; groups as in `deployments.apps`. */
export function ask(text: string): AccessAttributes {
  const [request = '', namespace = ''] = text.split(' in ');
  const [verb = '', what = '', name = ''] = request.split(' ');
  if (what.startsWith('/')) return { kind: 'path', verb, path: what };
  const [qualified = '', subresource = ''] = what.split('/');
  const [resource = '', ...group] = qualified.split('.');
  return {
    kind: 'resource',
    verb,
    group: group.join('.'),
    version: 'v1',
    resource,
    subresource,
    namespace,
    name,
  };
}

export type ExampleReader = ObjectReader & { readonly put: (object: KubeObject) => void };

/** A reader over objects in memory. */
export function exampleReader(objects: readonly KubeObject[]): ExampleReader {
  const stored = new Map<string, KubeObject>();
  const revisions = new Map<string, number>();
  const resourceOf = ({ kind, apiVersion }: KubeObject): string =>
    groupResource(apiVersion.split('/').slice(0, -1).join('/'), `${kind.toLowerCase()}s`);
  const key = (resource: string, namespace: string, name: string): string =>
    `${resource}/${namespace}/${name}`;
  const put = (object: KubeObject): void => {
    const resource = resourceOf(object);
    const { namespace = '', name = '' } = object.metadata;
    stored.set(key(resource, namespace, name), object);
    revisions.set(resource, (revisions.get(resource) ?? 0) + 1);
  };
  objects.forEach(put);
  return {
    put,
    get: (resource, namespace, name) => stored.get(key(resource, namespace, name)),
    list: (resource, namespace) =>
      [...stored.values()].filter(
        (object) =>
          resourceOf(object) === resource &&
          (namespace === undefined || object.metadata.namespace === namespace),
      ),
    revision: (resource) => revisions.get(resource) ?? 0,
  };
}
