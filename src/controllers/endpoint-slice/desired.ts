// The endpoints of a Service, grouped by port set, and the metadata of its slices.

import { familyOf } from '../../ip/address.ts';
import { endpointIdentity } from '../../kinds/endpoint-slice/same-endpoint.ts';
import {
  type Endpoint,
  type EndpointSlice,
  type SlicePort,
  sliceManager,
} from '../../kinds/endpoint-slice/types.ts';
import type { Node } from '../../kinds/node/types.ts';
import { isPodReady } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import {
  canAnswer,
  hasClusterIP,
  hostnameUnder,
  podAddresses,
} from '../../kinds/service/backends.ts';
import { headlessIP, type IPFamily, type Service } from '../../kinds/service/types.ts';
import type { Labels } from '../../meta/labels.ts';
import { nameIsDnsSubdomain } from '../../meta/names.ts';
import { ownerReferenceTo } from '../../meta/owner.ts';
import {
  headlessLabel,
  serviceNameLabel,
  sliceManagedByLabel,
  zoneLabel,
} from '../../meta/well-known-labels.ts';
import { groupByPort } from './group-by-port.ts';

export type DesiredGroup = {
  readonly ports: readonly SlicePort[];
  /** By identity. */
  readonly endpoints: ReadonlyMap<string, Endpoint>;
};

export type DesiredEndpoints = {
  /** By the key of the port set. */
  readonly groups: ReadonlyMap<string, DesiredGroup>;
  /** Pods left out because their node is not in the cache yet. */
  readonly podsWithoutNode: readonly Pod[];
};

export type DesiredInput = {
  readonly service: Service;
  readonly pods: readonly Pod[];
  readonly node: (name: string) => Node | undefined;
  readonly family: IPFamily;
};

export function desiredEndpoints({ service, pods, node, family }: DesiredInput): DesiredEndpoints {
  const podsWithoutNode: Pod[] = [];
  const groups = new Map<string, DesiredGroup>();
  const answering = pods.filter((pod) => canAnswer(pod, true));
  for (const [key, group] of groupByPort(service, answering)) {
    const endpoints = new Map<string, Endpoint>();
    groups.set(key, { ports: group.ports, endpoints });
    for (const pod of group.pods) {
      const nodeObject = node(pod.spec.nodeName ?? '');
      if (nodeObject === undefined && service.spec.publishNotReadyAddresses !== true) {
        podsWithoutNode.push(pod);
        continue;
      }
      const endpoint = podEndpoint({ service, pod, nodeObject, family });
      if (endpoint !== undefined) endpoints.set(endpointIdentity(endpoint), endpoint);
    }
  }
  return { groups, podsWithoutNode };
}

type PodEndpoint = {
  readonly service: Service;
  readonly pod: Pod;
  readonly nodeObject: Node | undefined;
  readonly family: IPFamily;
};

function podEndpoint({ service, pod, nodeObject, family }: PodEndpoint): Endpoint | undefined {
  const addresses = podAddresses(pod, family);
  if (addresses.length === 0) return undefined;
  const serving = isPodReady(pod);
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const ready = service.spec.publishNotReadyAddresses === true || (serving && !terminating);
  const hostname = hostnameUnder(service, pod);
  const zone = nodeObject?.metadata.labels?.[zoneLabel];
  const { namespace = '', name = '', uid = '' } = pod.metadata;
  return {
    addresses,
    conditions: { ready, serving, terminating },
    ...(hostname === undefined ? {} : { hostname }),
    targetRef: { kind: 'Pod', namespace, name, uid },
    ...(pod.spec.nodeName ? { nodeName: pod.spec.nodeName } : {}),
    ...(zone ? { zone } : {}),
  };
}

/** One set of slices for each family. Services of servers without dual stack have no ipFamilies. */
export function serviceFamilies({ spec }: Service): readonly IPFamily[] {
  if (spec.ipFamilies !== undefined && spec.ipFamilies.length > 0) return spec.ipFamilies;
  if (spec.clusterIP && spec.clusterIP !== headlessIP) {
    return [familyOf(spec.clusterIP) ?? 'IPv4'];
  }
  return ['IPv4', 'IPv6'];
}

/** Labels of the Service are copied, except those with a meaning of their own on slices. */
export function sliceLabels(service: Service): Labels {
  const {
    [serviceNameLabel]: _name,
    [sliceManagedByLabel]: _manager,
    [headlessLabel]: _headless,
    ...labels
  } = service.metadata.labels ?? {};
  return {
    ...labels,
    ...(hasClusterIP(service) ? {} : { [headlessLabel]: '' }),
    [serviceNameLabel]: service.metadata.name ?? '',
    [sliceManagedByLabel]: sliceManager,
  };
}

export type NewSlice = {
  readonly service: Service;
  readonly family: IPFamily;
  readonly ports: readonly SlicePort[];
  readonly endpoints: readonly Endpoint[];
};

export function newSlice({ service, family, ports, endpoints }: NewSlice): EndpointSlice {
  const { name = '', namespace = '' } = service.metadata;
  const prefix = `${name}-`;
  return {
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: {
      generateName: nameIsDnsSubdomain(prefix, true).length === 0 ? prefix : name,
      namespace,
      labels: sliceLabels(service),
      ownerReferences: [ownerReferenceTo(service)],
    },
    addressType: family,
    endpoints,
    ports,
  };
}
