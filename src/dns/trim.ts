// Trims objects to the fields that names need, to save memory in large clusters.
import { isReady } from '../kinds/endpoint-slice/conditions.ts';
import type { Endpoint, EndpointSlice } from '../kinds/endpoint-slice/types.ts';
import type { Namespace } from '../kinds/namespace/types.ts';
import type { Pod } from '../kinds/pod/types.ts';
import type { Service } from '../kinds/service/types.ts';
import type { KubeObject } from '../meta/object.ts';
import { triggerTimeAnnotation } from '../meta/well-known-annotations.ts';
import { serviceNameLabel } from '../meta/well-known-labels.ts';
import type { SliceOptions } from './cluster/facts.ts';

export function trimService(service: Service): Service {
  const { type, clusterIP, clusterIPs, externalName, ports = [], selector } = service.spec ?? {};
  return {
    ...named(service),
    spec: {
      ...(type === undefined ? {} : { type }),
      ...(clusterIP === undefined ? {} : { clusterIP }),
      ...(clusterIPs === undefined ? {} : { clusterIPs }),
      ...(externalName === undefined ? {} : { externalName }),
      ...(selector === undefined ? {} : { selector }),
      ports: ports.map(({ name, protocol, port, targetPort }) => ({
        ...(name === undefined ? {} : { name }),
        ...(protocol === undefined ? {} : { protocol }),
        port,
        targetPort,
      })),
    },
    status: { loadBalancer: {} },
  };
}

/** Keeps ready endpoints; those without a host name are merged into one, as only their addresses matter. */
export function trimSlice(slice: EndpointSlice, { endpointPodNames }: SliceOptions): EndpointSlice {
  const ready = (slice.endpoints ?? []).filter(({ conditions }) => isReady(conditions ?? {}));
  const isNamed = ({ hostname, targetRef }: Endpoint): boolean =>
    Boolean(hostname || (endpointPodNames && targetRef?.name));
  const plain = ready.filter((endpoint) => !isNamed(endpoint));
  const joined = plain.flatMap(({ addresses }) => addresses ?? []);
  const endpoints = ready.filter(isNamed).map(({ addresses, hostname, targetRef }) => ({
    addresses,
    conditions: {},
    ...(hostname ? { hostname } : {}),
    ...(!hostname && targetRef?.name ? { targetRef: { name: targetRef.name } } : {}),
  }));
  const service = slice.metadata.labels?.[serviceNameLabel];
  const trigger = slice.metadata.annotations?.[triggerTimeAnnotation];
  const base = named(slice);
  return {
    ...base,
    metadata: {
      ...base.metadata,
      ...(service === undefined ? {} : { labels: { [serviceNameLabel]: service } }),
      ...(trigger === undefined ? {} : { annotations: { [triggerTimeAnnotation]: trigger } }),
    },
    addressType: slice.addressType,
    endpoints:
      joined.length === 0 ? endpoints : [...endpoints, { addresses: joined, conditions: {} }],
    ports: slice.ports,
  };
}

export function trimPod(pod: Pod): Pod {
  const { phase, podIP, podIPs } = pod.status ?? {};
  return {
    ...named(pod),
    spec: { containers: [], ...(pod.spec?.hostNetwork ? { hostNetwork: true } : {}) },
    status: {
      ...(phase === undefined ? {} : { phase }),
      ...(podIP === undefined ? {} : { podIP }),
      ...(podIPs === undefined ? {} : { podIPs }),
    },
  };
}

export function trimNamespace(object: Namespace): Namespace {
  return { ...named(object), spec: {}, status: {} };
}

function named({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { namespace, name, uid, resourceVersion } = metadata;
  return {
    apiVersion,
    kind,
    metadata: {
      ...(namespace === undefined ? {} : { namespace }),
      ...(name === undefined ? {} : { name }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
  };
}
