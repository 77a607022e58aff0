// Endpoints by address and port, with the pods and nodes that their slices name.
import { formatAddress, parseAddressSloppy } from '../ip/address.ts';
import type { Endpoint, EndpointSlice } from '../kinds/endpoint-slice/types.ts';
import type { Service } from '../kinds/service/types.ts';
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';

export type SliceEndpoint = {
  readonly namespace: string;
  readonly pod?: string;
  readonly node?: string;
};

/** By `ip port`. */
export function sliceEndpoints(
  index: SnapshotIndex,
  { metadata }: Service,
): ReadonlyMap<string, SliceEndpoint> {
  const { namespace = '', name = '' } = metadata;
  const slices = index.slicesOf(namespace, name);
  return new Map(slices.flatMap((slice) => endpointsOfSlice(slice, namespace)));
}

function endpointsOfSlice(
  { endpoints, ports }: EndpointSlice,
  namespace: string,
): readonly (readonly [string, SliceEndpoint])[] {
  return (endpoints ?? []).flatMap((endpoint) => {
    const address = parseAddressSloppy(endpoint.addresses?.[0] ?? '');
    const ip = address === undefined ? '' : formatAddress(address);
    const about = aboutEndpoint(endpoint, namespace);
    return (ports ?? []).map(({ port }) => [`${ip} ${port}`, about] as const);
  });
}

function aboutEndpoint({ nodeName, targetRef }: Endpoint, namespace: string): SliceEndpoint {
  const pod = targetRef?.kind === 'Pod' ? targetRef.name : undefined;
  return {
    namespace: targetRef?.namespace || namespace,
    ...(pod ? { pod } : {}),
    ...(nodeName ? { node: nodeName } : {}),
  };
}
