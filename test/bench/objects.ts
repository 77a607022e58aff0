// The objects that loads write: a Service as people write them, and slices of ten endpoints.
export const namespace = 'default';
export const servicesPath = `/api/v1/namespaces/${namespace}/services`;
export const slicesPath = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;

export const endpointsPath = `/api/v1/namespaces/${namespace}/endpoints`;

export const serviceName = (index: number): string => `web-${String(index).padStart(6, '0')}`;

/** About 1.1 kB when it is stored, with what the server adds. */
export function serviceBody(index: number): string {
  const name = serviceName(index);
  const labels = {
    'app.kubernetes.io/name': name,
    'app.kubernetes.io/part-of': 'bench',
    tier: 'web',
  };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, labels },
    spec: {
      selector: { 'app.kubernetes.io/name': name },
      ports: [
        { name: 'http', port: 80, targetPort: 8080 },
        { name: 'metrics', port: 9090, targetPort: 'metrics' },
      ],
    },
  });
}

/** A Service of one port, whose endpoints `sliceBody` has. */
export function plainServiceBody(index: number): string {
  const name = serviceName(index);
  const ports = [{ name: 'http', port: 80, targetPort: 8080 }];
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace },
    spec: { ports },
  });
}

export function sliceBody(index: number): string {
  const service = serviceName(index);
  return JSON.stringify({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `${service}-a`,
      namespace,
      labels: { 'kubernetes.io/service-name': service },
    },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    endpoints: Array.from({ length: 10 }, (_, at) => endpoint(service, index * 10 + at)),
  });
}

function endpoint(service: string, number: number): object {
  return {
    addresses: [`10.${128 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`],
    conditions: { ready: true, serving: true, terminating: false },
    nodeName: `node-${number % 50}`,
    targetRef: { kind: 'Pod', namespace, name: `${service}-${number}` },
  };
}

export function patchBody(round: string): string {
  return JSON.stringify({
    metadata: { annotations: { 'bench.example.com/round': round } },
  });
}
