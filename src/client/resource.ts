// The names of a resource and the paths of its objects.
import type { Column } from '../kinds/definition.ts';
import { groupVersion, type KubeObject } from '../meta/object.ts';

export type ResourceNames = {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
};

export type ResourceType<T extends KubeObject = KubeObject> = ResourceNames & {
  /** Ties the object type to the resource. Kind definitions have columns; names from discovery have none. */
  readonly columns?: readonly Column<T>[];
};

/** The namespace is absent for cluster-scoped resources. */
export type ObjectName = { readonly namespace?: string; readonly name: string };

export type ResourcePath = {
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
};

/** `/apis/discovery.k8s.io/v1/namespaces/a/endpointslices/b/status`, percent-encoded. */
export function resourcePath(
  type: ResourceNames,
  { namespace, name, subresource }: ResourcePath,
): string {
  const root = type.group === '' ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  const scope = type.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  const object = name === undefined ? '' : `/${encodeURIComponent(name)}`;
  const below = subresource === undefined ? '' : `/${subresource}`;
  return `${root}${scope}/${type.plural}${object}${below}`;
}

/** `?a=b&c=d`; undefined values are omitted. */
export function queryText(
  values: Readonly<Record<string, string | number | boolean | undefined>>,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) query.set(name, String(value));
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

/**
 * Sets kind and apiVersion: list items come without them, and metadata-only objects with PartialObjectMetadata.
 */
export function typedAs<T extends KubeObject>(type: ResourceNames, object: T): T {
  const says = object.kind !== undefined && object.apiVersion !== undefined;
  if (says && object.kind !== 'PartialObjectMetadata') return object;
  return { ...object, kind: type.kind, apiVersion: groupVersion(type.group, type.version) };
}
