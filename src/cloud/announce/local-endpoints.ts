// Finds the nodes with serving endpoints of a Service.
import type { EndpointSlice } from '../../kinds/endpoint-slice/types.ts';
import { apiServerKey } from '../../kinds/service/address-owners.ts';
import type { Service } from '../../kinds/service/types.ts';
import { serviceNameLabel } from '../../meta/well-known-labels.ts';

export const serviceIndex = 'service';

export function serviceOfSlice({ metadata }: EndpointSlice): string {
  return `${metadata.namespace ?? ''}/${metadata.labels?.[serviceNameLabel] ?? ''}`;
}

export const sliceKeyOf = ({ metadata }: Service): string =>
  `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;

/** Keeps only the nodes and readiness of endpoints, and the API server's addresses, as there may be many. */
export function trimSlice(slice: EndpointSlice): EndpointSlice {
  if (serviceOfSlice(slice) === apiServerKey) return slice;
  const { kind, apiVersion, metadata, addressType, endpoints } = slice;
  const { namespace, name, uid, resourceVersion, labels } = metadata;
  return {
    kind,
    apiVersion,
    metadata: {
      ...(namespace === undefined ? {} : { namespace }),
      ...(name === undefined ? {} : { name }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(labels === undefined ? {} : { labels }),
    },
    addressType,
    endpoints: [...readyNodes(endpoints)].map((nodeName) => ({
      addresses: [],
      conditions: { ready: true },
      nodeName,
    })),
    ports: [],
  };
}

function readyNodes(endpoints: EndpointSlice['endpoints']): ReadonlySet<string> {
  const nodes = new Set<string>();
  for (const { nodeName, conditions } of endpoints ?? [])
    if (nodeName !== undefined && (conditions?.ready ?? true)) nodes.add(nodeName);
  return nodes;
}

export function nodesIn(slices: readonly EndpointSlice[]): ReadonlySet<string> {
  return new Set(slices.flatMap(({ endpoints }) => [...readyNodes(endpoints)]));
}
