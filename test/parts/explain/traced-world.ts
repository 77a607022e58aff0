// A small cluster with a Service for each thing that a trace explains.
import type { EndpointSlice } from '../../../src/kinds/endpoint-slice/types.ts';
import type { Namespace } from '../../../src/kinds/namespace/types.ts';
import type { Node } from '../../../src/kinds/node/types.ts';
import { examplePod } from '../../../src/kinds/pod/example.ts';
import { exampleService } from '../../../src/kinds/service/example.ts';
import type { Service, ServiceSpec, ServiceStatus } from '../../../src/kinds/service/types.ts';
import type { ServiceCIDR } from '../../../src/kinds/service-cidr/types.ts';
import { serviceNameLabel, zoneLabel } from '../../../src/meta/well-known-labels.ts';
import type { SnapshotObjects } from '../../../src/snapshot/snapshot.ts';

type Endpoint = {
  readonly address: string;
  readonly node?: string;
  readonly pod?: string;
  readonly ready?: boolean;
  readonly terminating?: boolean;
  readonly zoneHint?: string;
};

/** In namespace `default`, with one port, 80 to 8080, named http. */
export function service(
  name: string,
  spec: Partial<ServiceSpec> = {},
  status: Partial<ServiceStatus> = {},
): Service {
  const { clusterIP } = spec;
  return exampleService({
    metadata: { name, namespace: 'default' },
    spec: {
      ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }],
      ...spec,
      ...(clusterIP === undefined ? {} : { clusterIPs: [clusterIP] }),
    },
    status,
  });
}

export function slice(
  name: string,
  endpoints: readonly Endpoint[],
  ports: EndpointSlice['ports'] = [{ name: 'http', protocol: 'TCP', port: 8080 }],
): EndpointSlice {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `${name}-x`, namespace: 'default', labels: { [serviceNameLabel]: name } },
    addressType: 'IPv4',
    ports,
    endpoints: endpoints.map(
      ({ address, node = 'n1', pod, ready = true, terminating = false, zoneHint }) => ({
        addresses: [address],
        nodeName: node,
        conditions: { ready, serving: ready || terminating, terminating },
        ...(pod === undefined
          ? {}
          : { targetRef: { kind: 'Pod', namespace: 'default', name: pod } }),
        ...(zoneHint === undefined ? {} : { hints: { forZones: [{ name: zoneHint }] } }),
      }),
    ),
  };
}

export function node(n: number, zone: string): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: `n${n}`, labels: { [zoneLabel]: zone } },
    spec: { podCIDR: `10.244.${n}.0/24`, podCIDRs: [`10.244.${n}.0/24`] },
    status: { addresses: [{ type: 'InternalIP', address: `10.20.0.1${n}` }] },
  } as unknown as Node;
}

export function pod(name: string, ip: string, nodeName = 'n1') {
  return examplePod({
    metadata: { name, namespace: 'default', labels: { app: name } },
    spec: {
      nodeName,
      containers: [{ name: 'app', image: 'app:1', ports: [{ containerPort: 8080 }] }],
    },
    status: {
      phase: 'Running',
      podIP: ip,
      podIPs: [{ ip }],
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  });
}

const namespace = (name: string): Namespace => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
  spec: {},
  status: {},
});

const ranges: ServiceCIDR = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  metadata: { name: 'kubernetes' },
  spec: { cidrs: ['10.96.0.0/16'] },
  status: {},
};

export function tracedWorld(): Partial<SnapshotObjects> {
  return {
    namespaces: ['default', 'shop'].map(namespace),
    nodes: [node(1, 'zone-a'), node(2, 'zone-b')],
    serviceCIDRs: [ranges],
    pods: [
      pod('client', '10.244.1.9'),
      pod('web-1', '10.244.1.5'),
      pod('web-2', '10.244.2.6', 'n2'),
    ],
    services: [
      service('web', { clusterIP: '10.96.0.20' }),
      service('local', { clusterIP: '10.96.0.21', internalTrafficPolicy: 'Local' }),
      service('empty', { clusterIP: '10.96.0.22', selector: { app: 'nothing' } }),
      service('self', { clusterIP: '10.96.0.23' }),
      service('hinted', { clusterIP: '10.96.0.24', trafficDistribution: 'PreferSameZone' }),
      service('db', {
        clusterIP: 'None',
        ports: [{ name: 'pg', protocol: 'TCP', port: 5432, targetPort: 8080 }],
      }),
      service(
        'balanced',
        { clusterIP: '10.96.0.25', type: 'LoadBalancer' },
        { loadBalancer: { ingress: [{ ip: '192.0.2.9', ipMode: 'Proxy' }] } },
      ),
      service('thief', { clusterIP: '10.96.0.26', externalIPs: ['10.20.0.12'] }),
      service('outside', { type: 'ExternalName', externalName: 'api.example.com', clusterIP: '' }),
    ],
    endpointSlices: [
      slice('web', [
        { address: '10.244.1.5', pod: 'web-1' },
        { address: '10.244.2.6', node: 'n2', pod: 'web-2' },
        { address: '10.244.2.7', node: 'n2', ready: false },
      ]),
      slice('local', [{ address: '10.244.2.6', node: 'n2', pod: 'web-2' }]),
      slice('self', [{ address: '10.244.1.9', pod: 'client' }]),
      slice('hinted', [
        { address: '10.244.1.5', pod: 'web-1', zoneHint: 'zone-a' },
        { address: '10.244.2.6', node: 'n2', pod: 'web-2', zoneHint: 'zone-b' },
      ]),
      slice(
        'db',
        [
          { address: '10.244.1.5', pod: 'web-1' },
          { address: '10.244.2.7', node: 'n2', ready: false },
        ],
        [{ name: 'pg', protocol: 'TCP', port: 8080 }],
      ),
      slice('balanced', [{ address: '10.244.1.5', pod: 'web-1' }]),
      slice('thief', [{ address: '10.244.1.5', pod: 'web-1' }]),
    ],
  };
}
