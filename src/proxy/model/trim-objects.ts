// Removes unused fields before objects are stored: with 100,000 endpoints these would be most of the memory.
import { isReady, isServing, isTerminating } from '../../kinds/endpoint-slice/conditions.ts';
import type {
  EndpointSlice,
  Endpoint as SliceEndpoint,
  SlicePort,
} from '../../kinds/endpoint-slice/types.ts';
import type { Node } from '../../kinds/node/types.ts';
import { sourceRangesOf } from '../../kinds/service/source-ranges.ts';
import type { Service, ServicePort, ServiceSpec } from '../../kinds/service/types.ts';
import type { KubeObject, ObjectMeta } from '../../meta/object.ts';
import { triggerTimeAnnotation } from '../../meta/well-known-annotations.ts';
import { serviceNameLabel, serviceProxyNameLabel } from '../../meta/well-known-labels.ts';
import { knownProtocol } from './service-ports.ts';

/** Shared by all endpoints with the same values. */
export type EndpointFacts = {
  readonly nodeName: string;
  readonly isReady: boolean;
  readonly isServing: boolean;
  readonly isTerminating: boolean;
  readonly nodeHints: readonly string[];
  readonly zoneHints: readonly string[];
};

/** The used part of a slice. Endpoints are two parallel lists. */
export type TrimmedSlice = KubeObject & {
  readonly addressType: string;
  /** `namespace/name`; absent when the slice belongs to none. */
  readonly serviceKey?: string;
  readonly triggerTime?: string;
  readonly ports: readonly TrimmedPort[];
  readonly addresses: readonly string[];
  readonly facts: readonly EndpointFacts[];
};

/** Usable ones only (KPX-06). */
export type TrimmedPort = { readonly id: string; readonly port: number };

export type Trimmer = {
  readonly service: (service: Service) => Service;
  readonly slice: (slice: EndpointSlice) => TrimmedSlice;
};

/** Distinct facts that are shared; a cluster has about as many as nodes. */
const maxShared = 100_000;
const maxPort = 65_535;

export function createTrimmer(): Trimmer {
  const shared = new Map<string, EndpointFacts>();
  const share = (facts: EndpointFacts): EndpointFacts => {
    const key = factsKey(facts);
    const known = shared.get(key);
    if (known !== undefined) return known;
    if (shared.size < maxShared) shared.set(key, facts);
    return facts;
  };
  return {
    service: trimService,
    slice(slice) {
      const { metadata } = slice;
      const serviceName = metadata.labels?.[serviceNameLabel];
      const triggerTime = metadata.annotations?.[triggerTimeAnnotation];
      const endpoints = slice.endpoints ?? [];
      return {
        kind: 'EndpointSlice',
        apiVersion: 'discovery.k8s.io/v1',
        metadata: identity(metadata),
        addressType: slice.addressType,
        ...(serviceName ? { serviceKey: `${metadata.namespace ?? ''}/${serviceName}` } : {}),
        ...(triggerTime === undefined ? {} : { triggerTime }),
        ports: (slice.ports ?? []).flatMap((port) => trimPort(port) ?? []),
        // Only the first address is used; others have no defined meaning (KPX-06).
        addresses: endpoints.map(({ addresses }) => addresses?.[0] ?? ''),
        facts: endpoints.map((endpoint) => share(factsOf(endpoint))),
      };
    },
  };
}

/** Endpoints meet service ports by name and protocol, never by number (KPX-05). */
export function portId(portName: string, protocol: string): string {
  return `${portName}/${protocol}`;
}

/** Numbers in slices are not checked by the server. */
function trimPort({ name, protocol: text, port }: SlicePort): TrimmedPort | undefined {
  const protocol = knownProtocol(text);
  if (protocol === undefined || port === undefined || port < 1 || port > maxPort) {
    return undefined;
  }
  return { id: portId(name ?? '', protocol), port };
}

function factsOf({ conditions = {}, nodeName = '', hints }: SliceEndpoint): EndpointFacts {
  return {
    nodeName,
    isReady: isReady(conditions),
    isServing: isServing(conditions),
    isTerminating: isTerminating(conditions),
    nodeHints: (hints?.forNodes ?? []).map(({ name }) => name),
    zoneHints: (hints?.forZones ?? []).map(({ name }) => name),
  };
}

/** No name of a node or zone has a bar or a comma. */
function factsKey(facts: EndpointFacts): string {
  const { nodeName, isReady, isServing, isTerminating, nodeHints, zoneHints } = facts;
  return `${nodeName}|${isReady}|${isServing}|${isTerminating}|${nodeHints}|${zoneHints}`;
}

function trimService(service: Service): Service {
  const { metadata, spec, status } = service;
  const proxyName = metadata.labels?.[serviceProxyNameLabel];
  const { ingress } = status?.loadBalancer ?? {};
  return {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: {
      ...identity(metadata),
      ...(metadata.creationTimestamp === undefined
        ? {}
        : { creationTimestamp: metadata.creationTimestamp }),
      ...(proxyName === undefined ? {} : { labels: { [serviceProxyNameLabel]: proxyName } }),
    },
    spec: { ...trimSpec(spec), ...sourceRanges(service) },
    status: ingress === undefined ? noStatus : { loadBalancer: { ingress } },
  };
}

/** Ranges of the annotation are moved to the field, so that annotations can be dropped. */
function sourceRanges(service: Service): Pick<ServiceSpec, 'loadBalancerSourceRanges'> {
  const ranges = sourceRangesOf(service);
  return ranges.length === 0 ? {} : { loadBalancerSourceRanges: ranges };
}

const noStatus = { loadBalancer: {} } as const;

/** The addresses of a node, and what the proxy reads besides. */
export function trimNode({ metadata, spec, status }: Node): Node {
  const { podCIDR, podCIDRs } = spec;
  const { addresses, daemonEndpoints } = status;
  const nodeInfo = noNodeInfo;
  return {
    kind: 'Node',
    apiVersion: 'v1',
    metadata: identity(metadata),
    spec: {
      ...(podCIDR === undefined ? {} : { podCIDR }),
      ...(podCIDRs === undefined ? {} : { podCIDRs }),
    },
    status: {
      ...(addresses === undefined ? {} : { addresses }),
      daemonEndpoints,
      nodeInfo,
    },
  };
}

/** The type requires it; the proxy does not use it. */
const noNodeInfo: Node['status']['nodeInfo'] = {
  ...{ architecture: '', bootID: '', containerRuntimeVersion: '', kernelVersion: '' },
  ...{ kubeProxyVersion: '', kubeletVersion: '', machineID: '', operatingSystem: '' },
  ...{ osImage: '', systemUUID: '' },
};

function trimSpec(spec: ServiceSpec): ServiceSpec {
  const { selector, ipFamilies, ipFamilyPolicy, allocateLoadBalancerNodePorts, ...kept } = spec;
  const { clusterIPs, ports, ...rest } = kept;
  return {
    ...rest,
    // A single one equals clusterIP.
    ...(clusterIPs !== undefined && clusterIPs.length > 1 ? { clusterIPs } : {}),
    ports: (ports ?? []).map(trimServicePort),
  };
}

function trimServicePort({ name, protocol, port, nodePort }: ServicePort): ServicePort {
  return {
    ...(name === undefined ? {} : { name }),
    ...(protocol === undefined ? {} : { protocol }),
    port,
    // Required by the type; not used here.
    targetPort: port,
    ...(nodePort === undefined ? {} : { nodePort }),
  };
}

/** Metadata for informers and events. */
function identity({ name, namespace, uid, resourceVersion }: ObjectMeta): ObjectMeta {
  return {
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}
