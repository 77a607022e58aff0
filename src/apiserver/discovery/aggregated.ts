// Aggregated discovery: all groups, versions and resources in one document.
import { type AcceptClause, acceptsMediaType, parseAccept } from '../encode/accept.ts';
import type { ServedGroup, ServedKind } from './served-kind.ts';

export type AggregateFormat = 'json' | 'yaml';

const formats: readonly AggregateFormat[] = ['json', 'yaml'];

/** Clients tell from the header of the answer which document they got. */
export const aggregateParameters = ';g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/**
 * How to write it; undefined when the Accept header prefers plain documents, or asks for a version that is gone: v2beta1 is not served since
 * Kubernetes 1.33.
 */
export function wantedAggregate(accept: string): AggregateFormat | undefined {
  for (const clause of parseAccept(accept)) {
    const format = formats.find((name) => acceptsMediaType(clause, 'application', name));
    if (format === undefined || !isUnderstood(clause)) continue;
    return isPlain(clause) ? undefined : format;
  }
  return undefined;
}

export function groupDiscoveryList(groups: readonly ServedGroup[]): object {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
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

const isPlain = ({ parameters: { as, g, v } }: AcceptClause): boolean =>
  as === undefined && g === undefined && v === undefined;

function isUnderstood(clause: AcceptClause): boolean {
  const { as, g, v, sv = '' } = clause.parameters;
  const isAggregate = as === 'APIGroupDiscoveryList' && g === 'apidiscovery.k8s.io' && v === 'v2';
  return sv === '' && (isPlain(clause) || isAggregate);
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
