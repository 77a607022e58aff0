// What discovery and OpenAPI need to know of a kind, stored or not.
import { type AnyKind, allVerbs, type Verb } from '../../kinds/definition.ts';
import type { StructNode } from '../../schema/node.ts';

/** A kind that is answered but never stored: access reviews, token requests, bindings. */
export type VirtualKind = {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly schema: StructNode;
  /** Absent: create only. */
  readonly verbs?: readonly Verb[];
  readonly subresources?: readonly ServedSubresource[];
};

export type ServedSubresource = {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly Verb[];
};

export type ServedKind = {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly stored: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly Verb[];
  readonly subresources: readonly ServedSubresource[];
  readonly schema: StructNode;
};

export type ServedVersion = { readonly version: string; readonly kinds: readonly ServedKind[] };
/** Versions are in order of preference, kinds and subresources in order of name. */
export type ServedGroup = { readonly group: string; readonly versions: readonly ServedVersion[] };

/** All that is served, groups in the order in which clients look through them. */
export function servedGroups(
  definitions: readonly AnyKind[],
  virtualKinds: readonly VirtualKind[],
): readonly ServedGroup[] {
  const kinds = [...definitions.map(fromDefinition), ...virtualKinds.map(fromVirtual)];
  const groups = Object.entries(groupBy(kinds, (kind) => kind.group));
  return groups
    .sort(([a], [b]) => rank(a) - rank(b) || compare(a, b))
    .map(([group, members]) => ({ group, versions: versionsOf(members) }));
}

function versionsOf(kinds: readonly ServedKind[]): readonly ServedVersion[] {
  return Object.entries(groupBy(kinds, (kind) => kind.version))
    .sort(([a], [b]) => compareVersions(a, b))
    .map(([version, members]) => ({
      version,
      kinds: [...members].sort((a, b) => compare(a.plural, b.plural)),
    }));
}

function fromDefinition(definition: AnyKind): ServedKind {
  const { group, version, kind, plural, singular, namespaced, schema } = definition;
  const subresources = (definition.subresources ?? []).map((sub) => ({
    name: sub.name,
    group: sub.group ?? group,
    version: sub.version ?? version,
    kind: sub.kind ?? kind,
    verbs: [...sub.verbs].sort(),
  }));
  return {
    ...{ group, version, kind, plural, singular, namespaced, schema },
    stored: true,
    shortNames: definition.shortNames ?? [],
    categories: definition.categories ?? [],
    verbs: [...(definition.verbs ?? allVerbs)].sort(),
    subresources: subresources.sort((a, b) => compare(a.name, b.name)),
  };
}

function fromVirtual(virtual: VirtualKind): ServedKind {
  const { group, version, kind, plural, singular, namespaced, schema } = virtual;
  const { verbs = ['create'], subresources = [] } = virtual;
  return {
    ...{ group, version, kind, plural, singular, namespaced, schema, subresources },
    ...{ shortNames: [], categories: [], verbs: [...verbs].sort(), stored: false },
  };
}

/** Kubernetes' own order: where two groups have a resource of one name, clients take the earlier. */
const groupOrder = [
  '',
  'apps',
  'events.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  'networking.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'storage.k8s.io',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'scheduling.k8s.io',
  'coordination.k8s.io',
  'node.k8s.io',
  'discovery.k8s.io',
];

function rank(group: string): number {
  const at = groupOrder.indexOf(group);
  return at < 0 ? groupOrder.length : at;
}

/** v2 before v1 before v1beta2 before v1beta1 before v1alpha1. */
function compareVersions(a: string, b: string): number {
  const [left, right] = [versionParts(a), versionParts(b)];
  for (const [at, part] of left.entries()) {
    const difference = (right[at] ?? 0) - part;
    if (difference !== 0) return difference;
  }
  return compare(a, b);
}

const stages = ['alpha', 'beta', ''];

function versionParts(version: string): readonly number[] {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (match === null) return [-1, 0, 0];
  return [stages.indexOf(match[2] ?? ''), Number(match[1]), Number(match[3] ?? 0)];
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function groupBy<T>(items: readonly T[], key: (item: T) => string): Record<string, T[]> {
  const groups: Record<string, T[]> = {};
  for (const item of items) {
    const name = key(item);
    const group = groups[name] ?? [];
    group.push(item);
    groups[name] = group;
  }
  return groups;
}
