// Builders of the default roles and bindings, with the labels and annotations of defaults.
import type { ClusterRole } from '../../kinds/cluster-role/types.ts';
import { type PolicyRule, rbacGroup, type Subject } from '../../kinds/rbac/types.ts';
import type { Role } from '../../kinds/role/types.ts';
import { autoUpdateAnnotation } from '../../meta/well-known-annotations.ts';
import type { Binding } from './grant-index.ts';

const apiVersion = `${rbacGroup}/v1`;

type Labels = Readonly<Record<string, string>>;

function metadata(
  name: string,
  more: { readonly namespace?: string; readonly labels?: Labels } = {},
) {
  return {
    name,
    ...(more.namespace === undefined ? {} : { namespace: more.namespace }),
    labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...more.labels },
    // Allows the server to update the object at start; "false" keeps an administrator's version.
    annotations: { [autoUpdateAnnotation]: 'true' },
  };
}

export function clusterRole(
  name: string,
  rules: readonly PolicyRule[],
  labels?: Labels,
): ClusterRole {
  return { kind: 'ClusterRole', apiVersion, metadata: metadata(name, labels && { labels }), rules };
}

/** A cluster role with the rules of all cluster roles that have the label. */
export function aggregatedRole(name: string, label: string, labels?: Labels): ClusterRole {
  return {
    ...clusterRole(name, [], labels),
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [label]: 'true' } }] },
  };
}

export function clusterRoleBinding(
  name: string,
  role: string,
  subjects: readonly Subject[],
): Binding {
  return {
    kind: 'ClusterRoleBinding',
    apiVersion,
    metadata: metadata(name),
    ...(subjects.length === 0 ? {} : { subjects }),
    roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: role },
  };
}

export function role(namespace: string, name: string, rules: readonly PolicyRule[]): Role {
  return { kind: 'Role', apiVersion, metadata: metadata(name, { namespace }), rules };
}

export function roleBinding(
  namespace: string,
  name: string,
  subjects: readonly Subject[],
): Binding {
  return {
    kind: 'RoleBinding',
    apiVersion,
    metadata: metadata(name, { namespace }),
    subjects,
    roleRef: { apiGroup: rbacGroup, kind: 'Role', name },
  };
}

export const user = (name: string): Subject => ({ kind: 'User', apiGroup: rbacGroup, name });
export const group = (name: string): Subject => ({ kind: 'Group', apiGroup: rbacGroup, name });
export const account = (name: string): Subject => ({
  kind: 'ServiceAccount',
  name,
  namespace: 'kube-system',
});

const words = (text: string): readonly string[] => text.split(' ');

/** Space-separated verbs and resources in one API group; `names` narrows to objects of these names. */
export function allow(
  verbs: string,
  apiGroup: string,
  resources: string,
  names?: string,
): PolicyRule {
  return {
    verbs: words(verbs),
    apiGroups: [apiGroup],
    resources: words(resources),
    ...(names === undefined ? {} : { resourceNames: words(names) }),
  };
}

export function allowPaths(verbs: string, paths: string): PolicyRule {
  return { verbs: words(verbs), nonResourceURLs: words(paths) };
}

export const read = 'get list watch';
export const write = 'create delete deletecollection patch update';

export const recordEvents: PolicyRule = {
  verbs: ['create', 'patch', 'update'],
  apiGroups: ['', 'events.k8s.io'],
  resources: ['events'],
};
