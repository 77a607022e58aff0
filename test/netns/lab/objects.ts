// The Services of the lab and their slices.
import type { EndpointSlice } from '../../../src/kinds/endpoint-slice/types.ts';
import type { Service } from '../../../src/kinds/service/types.ts';

export const namespace = 'default';

/** Each with a name of its own, as several need. */
const portNames = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, n) => (n === 0 ? 'http' : `http-${n}`));

export function labService(name: string, clusterIP: string, ports = 1): Service {
  return {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: { name, namespace },
    spec: {
      clusterIP,
      ports: portNames(ports).map((portName, n) => ({
        ...{ name: portName, protocol: 'TCP', port: 80 + n, targetPort: 9376 },
      })),
    },
    status: { loadBalancer: {} },
  };
}

export function labSlice(service: string, ips: readonly string[], ports = 1): EndpointSlice {
  return {
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: {
      name: `${service}-1`,
      namespace,
      labels: { 'kubernetes.io/service-name': service },
    },
    addressType: 'IPv4',
    ports: portNames(ports).map((name) => ({ name, protocol: 'TCP', port: 9376 })),
    endpoints: ips.map((ip) => ({
      addresses: [ip],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: 'n1',
    })),
  };
}

export const endpointsOf = (service: string, ips: readonly string[]) => ({
  endpoints: labSlice(service, ips).endpoints,
});
