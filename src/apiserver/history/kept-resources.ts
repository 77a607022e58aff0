// The resources whose history is retained, and how requests for it name them: `GET /apis/history.fairlead.dev/v1alpha1/namespaces/a/services/web`.
// Reading the history of an object takes the right to read the object.
import { groupResource } from '../../meta/object.ts';
import type { RequestInfo, ResourceRequest } from '../request/request-info.ts';

export const historyGroup = 'history.fairlead.dev';
export const historyVersion = 'v1alpha1';

export type KeptResource = {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespaced: boolean;
};

/** What questions about Services are about. Everything else, such as Secrets, Leases and Events, leaves no history. */
export const keptResources: readonly KeptResource[] = [
  { group: '', version: 'v1', plural: 'services', namespaced: true },
  { group: 'discovery.k8s.io', version: 'v1', plural: 'endpointslices', namespaced: true },
  { group: '', version: 'v1', plural: 'endpoints', namespaced: true },
  { group: '', version: 'v1', plural: 'pods', namespaced: true },
  { group: '', version: 'v1', plural: 'nodes', namespaced: false },
];

export const nameOfKept = ({ group, plural }: Pick<KeptResource, 'group' | 'plural'>): string =>
  groupResource(group, plural);

const names: ReadonlySet<string> = new Set(keptResources.map(nameOfKept));

/** `services`, `endpointslices.discovery.k8s.io`. */
export const isKept = (resource: string): boolean => names.has(resource);

export const keptResource = (plural: string): KeptResource | undefined =>
  keptResources.find((kept) => kept.plural === plural);

export const isHistoryRequest = ({ group }: ResourceRequest): boolean => group === historyGroup;

/**
 * What a request needs the right to: reading history is reading the objects. Without the selection of the query, so that a right to a part
 * of a collection, as that of a node to its pods, never grants the history of all of it.
 */
export function accessOf(info: RequestInfo): RequestInfo {
  if (info.kind !== 'resource' || !isHistoryRequest(info)) return info;
  const kept = keptResource(info.resource);
  if (kept === undefined) return info;
  const { fieldSelector: _fields, labelSelector: _labels, ...rest } = info;
  return { ...rest, group: kept.group, version: kept.version, name: info.pathName };
}
