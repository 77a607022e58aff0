// Aggregated discovery: all groups, versions and resources in one document.
import { type AcceptClause, acceptsMediaType, parseAccept } from '../encode/accept.ts';
import type { ServedGroup, ServedKind } from './served-kind.ts';

export type AggregatedVersion = 'v2' | 'v2beta1';

export const aggregatedVersions: readonly AggregatedVersion[] = ['v2', 'v2beta1'];

/** The version that the Accept header asks for; undefined when it asks for plain documents. */
export function wantedAggregate(accept: string): AggregatedVersion | undefined {
  for (const clause of parseAccept(accept)) {
    if (acceptsMediaType(clause, 'application', 'json')) {
      const version = aggregateOf(clause);
      if (version !== undefined) return version;
    }
  }
  return undefined;
}

/** Clients tell from this header which document they got. */
export function aggregateContentType(version: AggregatedVersion): string {
  return `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
}

export function groupDiscoveryList(
  version: AggregatedVersion,
  groups: readonly ServedGroup[],
): object {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map(({ group, versions }) => ({
      metadata: group === '' ? {} : { name: group },
      versions: versions.map(({ version, kinds }) => ({
        version,
        resources: kinds.map(describeKind),
        freshness: 'Current',
      })),
    })),
  };
}

function aggregateOf({ parameters }: AcceptClause): AggregatedVersion | undefined {
  if (parameters.g !== 'apidiscovery.k8s.io' || parameters.as !== 'APIGroupDiscoveryList') return;
  return aggregatedVersions.find((version) => version === parameters.v);
}

function describeKind(kind: ServedKind): object {
  const { group, version, shortNames, categories, subresources } = kind;
  return {
    resource: kind.plural,
    responseKind: { group, version, kind: kind.kind },
    scope: kind.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: kind.singular,
    verbs: kind.verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    ...(subresources.length > 0
      ? {
          subresources: subresources.map((sub) => ({
            subresource: sub.name,
            responseKind: { group: sub.group, version: sub.version, kind: sub.kind },
            verbs: sub.verbs,
          })),
        }
      : {}),
  };
}
