// The Endpoints of a Service with these pods.

import { isIPv6 } from '../../ip/address.ts';
import { repackSubsets } from '../../kinds/endpoints/repack-subsets.ts';
import {
  type EndpointAddress,
  type EndpointPort,
  type EndpointSubset,
  type Endpoints,
  endpointsManager,
} from '../../kinds/endpoints/types.ts';
import { isPodReady } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import {
  canAnswer,
  hasClusterIP,
  hostnameUnder,
  podAddresses,
  targetPortNumber,
} from '../../kinds/service/backends.ts';
import { saysHeadless } from '../../kinds/service/needs.ts';
import type { IPFamily, Service, ServicePort } from '../../kinds/service/types.ts';
import type { Labels } from '../../meta/labels.ts';
import { objectKey } from '../../meta/object.ts';
import { leaderAnnotation } from '../../meta/well-known-annotations.ts';
import { endpointsManagedByLabel, headlessLabel } from '../../meta/well-known-labels.ts';
import { truncateSubsets } from './truncate-subsets.ts';

export type DesiredEndpoints = {
  readonly labels: Labels;
  readonly subsets: readonly EndpointSubset[];
  /** Addresses beyond the limit were left out. */
  readonly isTruncated: boolean;
};

export function desiredEndpoints(service: Service, pods: readonly Pod[]): DesiredEndpoints {
  const publishesAll = service.spec.publishNotReadyAddresses === true;
  const portOf = createPorts();
  const subsets: EndpointSubset[] = [];
  for (const pod of pods) {
    if (!canAnswer(pod, publishesAll)) continue;
    const address = podAddress(service, pod);
    if (address === undefined) continue;
    const isReady = publishesAll || isPodReady(pod);
    const listed = isReady ? { addresses: [address] } : { notReadyAddresses: [address] };
    for (const ports of portLists(service, pod, portOf)) subsets.push({ ...listed, ...ports });
  }
  return { labels: desiredLabels(service), ...truncateSubsets(repackSubsets(subsets)) };
}

function desiredLabels(service: Service): Labels {
  const { [headlessLabel]: _, ...labels } = service.metadata.labels ?? {};
  return {
    ...labels,
    [endpointsManagedByLabel]: endpointsManager,
    ...(hasClusterIP(service) ? {} : { [headlessLabel]: '' }),
  };
}

type PortOf = (port: ServicePort, number: number) => EndpointPort;

/** One subset for each port that the pod has; a pod that has none of them is left out. */
function portLists(
  service: Service,
  pod: Pod,
  portOf: PortOf,
): readonly Pick<EndpointSubset, 'ports'>[] {
  const ports = service.spec.ports ?? [];
  if (ports.length === 0) return saysHeadless(service) ? [{}] : [];
  return ports.flatMap((port) => {
    const number = targetPortNumber(pod, port);
    return number === undefined ? [] : [{ ports: [portOf(port, number)] }];
  });
}

/** Returns the same object for the same port of all pods, which makes grouping fast. */
function createPorts(): PortOf {
  const known = new Map<ServicePort, Map<number, EndpointPort>>();
  return (port, number) => {
    const numbers = known.get(port) ?? new Map<number, EndpointPort>();
    known.set(port, numbers);
    const made = numbers.get(number) ?? endpointPort(port, number);
    numbers.set(number, made);
    return made;
  };
}

function endpointPort({ name, protocol, appProtocol }: ServicePort, port: number): EndpointPort {
  return {
    ...(name ? { name } : {}),
    port,
    protocol: protocol ?? 'TCP',
    ...(appProtocol === undefined ? {} : { appProtocol }),
  };
}

function podAddress(service: Service, pod: Pod): EndpointAddress | undefined {
  const [ip] = podAddresses(pod, firstFamily(service, pod));
  if (ip === undefined) return undefined;
  const { namespace = '', name = '', uid = '' } = pod.metadata;
  const { nodeName } = pod.spec;
  const hostname = hostnameUnder(service, pod);
  return {
    ip,
    ...(hostname === undefined ? {} : { hostname }),
    ...(nodeName ? { nodeName } : {}),
    targetRef: { kind: 'Pod', namespace, name, uid },
  };
}

/** Endpoints hold one family: the first of the Service. Services of servers without dual stack have no ipFamilies. */
function firstFamily({ spec }: Service, pod: Pod): IPFamily {
  const [family] = spec.ipFamilies ?? [];
  if (family !== undefined) return family;
  const hint = spec.clusterIP && spec.clusterIP !== 'None' ? spec.clusterIP : pod.status.podIP;
  return hint !== undefined && isIPv6(hint) ? 'IPv6' : 'IPv4';
}

/** Endpoints of a Service that was deleted while the controller did not run; a leader election's have no Service. */
export function isOrphan(
  { metadata }: Endpoints,
  services: { readonly has: (key: string) => boolean },
): boolean {
  return (
    metadata.annotations?.[leaderAnnotation] === undefined && !services.has(objectKey(metadata))
  );
}
