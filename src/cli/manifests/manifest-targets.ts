// Determines the resource and namespace of the objects of manifests.
import type { DiscoveredResource } from '../../client/discovery.ts';
import type { Session } from '../../flags/client-flags.ts';
import { FailedError } from '../../flags/command.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { Manifest } from '../../snapshot/manifest.ts';
import { findKind } from './find-resource.ts';

export type ManifestTarget = {
  readonly source: string;
  readonly resource: DiscoveredResource;
  /** With its namespace set. */
  readonly object: KubeObject;
};

export function manifestTarget(
  { source, object }: Pick<Manifest, 'source' | 'object'>,
  all: readonly DiscoveredResource[],
  { namespace, isNamespaceSet }: Pick<Session, 'namespace' | 'isNamespaceSet'>,
): ManifestTarget {
  const { apiVersion, kind, metadata } = object;
  const resource = findKind(all, apiVersion, kind);
  const own = metadata.namespace;
  if (resource === undefined) {
    throw new FailedError(
      `error: resource mapping not found for name: "${metadata.name ?? ''}" namespace: "${own ?? ''}" from "${source}": ` +
        `no matches for kind "${kind}" in version "${apiVersion}"\nensure CRDs are installed first`,
    );
  }
  if (!resource.namespaced) return { source, resource, object };
  if (isNamespaceSet && own !== undefined && own !== namespace) {
    throw new FailedError(
      `error: the namespace from the provided object "${own}" does not match the namespace "${namespace}". ` +
        `You must pass '--namespace=${own}' to perform this operation.`,
    );
  }
  return {
    source,
    resource,
    object: { ...object, metadata: { ...metadata, namespace: own ?? namespace } },
  };
}
