// The slices that mirror Endpoints which people or other programs manage.

import { formatAddress, parseAddressSloppy } from '../../ip/address.ts';
import { orderedPorts, portSetKey } from '../../kinds/endpoint-slice/port-set.ts';
import { endpointIdentity } from '../../kinds/endpoint-slice/same-endpoint.ts';
import type { Endpoint, SlicePort } from '../../kinds/endpoint-slice/types.ts';
import { repackSubsets } from '../../kinds/endpoints/repack-subsets.ts';
import type {
  EndpointAddress,
  EndpointPort,
  EndpointSubset,
  Endpoints,
} from '../../kinds/endpoints/types.ts';
import { isSelectorless } from '../../kinds/service/needs.ts';
import type { IPFamily, Service } from '../../kinds/service/types.ts';
import { leaderAnnotation } from '../../meta/well-known-annotations.ts';
import { skipMirrorLabel } from '../../meta/well-known-labels.ts';

export function shouldMirror(endpoints: Endpoints, service: Service | undefined): boolean {
  const { labels, annotations } = endpoints.metadata;
  if (labels?.[skipMirrorLabel] === 'true') return false;
  if (annotations?.[leaderAnnotation] !== undefined) return false;
  return service !== undefined && isSelectorless(service);
}

export type MirrorGroup = {
  readonly family: IPFamily;
  readonly ports: readonly SlicePort[];
  /** By identity. */
  readonly endpoints: ReadonlyMap<string, Endpoint>;
};

export type DesiredMirror = {
  /** By family and port set. */
  readonly groups: ReadonlyMap<string, MirrorGroup>;
  /** Texts that are no IP address. */
  readonly invalid: number;
  /** Addresses beyond the limit. */
  readonly excess: number;
};

export const noMirror: DesiredMirror = { groups: new Map(), invalid: 0, excess: 0 };

/** Mirrors at most `maxPerSubset` addresses of each subset. */
export function desiredMirror({ subsets = [] }: Endpoints, maxPerSubset: number): DesiredMirror {
  const groups = new Map<
    string,
    { family: IPFamily; ports: readonly SlicePort[]; endpoints: Map<string, Endpoint> }
  >();
  let invalid = 0;
  let excess = 0;
  for (const subset of repackSubsets(subsets)) {
    const ports = orderedPorts((subset.ports ?? []).map(slicePort));
    const read = readAddresses(subset, maxPerSubset);
    invalid += read.invalid;
    excess += read.excess;
    for (const { family, endpoint } of read.endpoints) {
      const key = groupKey(family, ports);
      const group = groups.get(key) ?? { family, ports, endpoints: new Map() };
      groups.set(key, group);
      group.endpoints.set(endpointIdentity(endpoint), endpoint);
    }
  }
  return { groups, invalid, excess };
}

export function groupKey(family: string, ports: readonly SlicePort[] | null): string {
  return `${family} ${portSetKey(ports)}`;
}

type ReadAddress = { readonly family: IPFamily; readonly endpoint: Endpoint };

/** Ready addresses first, so that they remain when a subset is truncated. */
function readAddresses(
  { addresses = [], notReadyAddresses = [] }: EndpointSubset,
  maxPerSubset: number,
): {
  readonly endpoints: readonly ReadAddress[];
  readonly invalid: number;
  readonly excess: number;
} {
  const endpoints: ReadAddress[] = [];
  let invalid = 0;
  let excess = 0;
  const listed = [
    ...addresses.map((address) => ({ address, ready: true })),
    ...notReadyAddresses.map((address) => ({ address, ready: false })),
  ];
  for (const { address, ready } of listed) {
    const read = endpoints.length < maxPerSubset ? readAddress(address, ready) : undefined;
    if (read !== undefined) endpoints.push(read);
    else if (endpoints.length < maxPerSubset) invalid += 1;
    else excess += 1;
  }
  return { endpoints, invalid, excess };
}

function readAddress(address: EndpointAddress, ready: boolean): ReadAddress | undefined {
  const parsed = parseAddressSloppy(address.ip);
  if (parsed === undefined) return undefined;
  const { hostname, targetRef, nodeName } = address;
  return {
    family: parsed.family,
    endpoint: {
      addresses: [formatAddress(parsed)],
      conditions: { ready },
      ...(hostname ? { hostname } : {}),
      ...(targetRef === undefined ? {} : { targetRef }),
      ...(nodeName === undefined ? {} : { nodeName }),
    },
  };
}

function slicePort({ name = '', protocol, port, appProtocol }: EndpointPort): SlicePort {
  return {
    name,
    protocol: protocol || 'TCP',
    port,
    ...(appProtocol === undefined ? {} : { appProtocol }),
  };
}
