// For tests: builds a zone from API objects.
import type { EndpointSlice } from '../../kinds/endpoint-slice/types.ts';
import type { Service, ServiceSpec } from '../../kinds/service/types.ts';
import { serviceNameLabel } from '../../meta/well-known-labels.ts';
import { serviceFacts, sliceFacts } from './facts.ts';
import { createZone, type Zone, type ZoneChange } from './zone.ts';

type Port = { readonly name?: string; readonly port: number; readonly protocol?: 'TCP' | 'UDP' };

export function service(
  namespace: string,
  name: string,
  spec: Partial<Omit<ServiceSpec, 'ports'>> & { readonly ports?: readonly Port[] },
): ZoneChange {
  const ports = (spec.ports ?? []).map((port) => ({ ...port, targetPort: port.port }));
  const object: Service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name },
    spec: {
      ...spec,
      ...(spec.clusterIP === undefined ? {} : { clusterIPs: [spec.clusterIP] }),
      ...(spec.clusterIPs === undefined ? {} : { clusterIPs: spec.clusterIPs }),
      ports,
    },
    status: { loadBalancer: {} },
  };
  return { kind: 'service', key: `${namespace}/${name}`, facts: serviceFacts(object) };
}

type Endpoint = {
  readonly address: string;
  readonly hostname?: string;
  readonly ready?: boolean;
  readonly pod?: string;
};

export function slice(
  namespace: string,
  serviceName: string,
  endpoints: readonly Endpoint[],
  ports: readonly Port[] = [{ name: 'pg', port: 5432, protocol: 'TCP' }],
  options: { readonly suffix?: string; readonly endpointPodNames?: boolean } = {},
): ZoneChange {
  const { suffix = 'x', endpointPodNames = false } = options;
  const object: EndpointSlice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace, labels: { [serviceNameLabel]: serviceName } },
    addressType: addressTypeOf(endpoints[0]?.address ?? ''),
    endpoints: endpoints.map(({ address, hostname, ready, pod }) => ({
      addresses: [address],
      conditions: ready === undefined ? {} : { ready },
      ...(hostname === undefined ? {} : { hostname }),
      ...(pod === undefined ? {} : { targetRef: { kind: 'Pod', name: pod } }),
    })),
    ports,
  };
  const facts = sliceFacts(object, { endpointPodNames });
  const key = `${namespace}/${serviceName}-${suffix}`;
  return facts === undefined ? { kind: 'slice', key } : { kind: 'slice', key, facts };
}

function addressTypeOf(address: string): EndpointSlice['addressType'] {
  if (address.includes(':')) return 'IPv6';
  return /[a-z]/.test(address) ? 'FQDN' : 'IPv4';
}

export function zoneOf(...changes: readonly ZoneChange[]): Zone {
  const zone = createZone();
  for (const key of ['a', 'b']) zone.apply({ kind: 'namespace', key, exists: true });
  for (const change of changes) zone.apply(change);
  return zone;
}
