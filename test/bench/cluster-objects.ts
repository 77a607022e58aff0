// Nodes and pods behind the services of objects.ts: ten pods for each service, over fifty nodes.
import { namespace, serviceName } from './objects.ts';

export const podsPath = `/api/v1/namespaces/${namespace}/pods`;
export const podsEach = 10;
const nodes = 50;

export const podName = (index: number): string =>
  `${serviceName(Math.floor(index / podsEach))}-${index % podsEach}`;

export function podBody(index: number): string {
  const app = serviceName(Math.floor(index / podsEach));
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: podName(index),
      namespace,
      labels: { 'app.kubernetes.io/name': app, 'app.kubernetes.io/part-of': 'bench' },
    },
    spec: {
      nodeName: nodeName(index),
      containers: [
        {
          name: 'app',
          image: 'app:1',
          ports: [{ containerPort: 8080 }, { name: 'metrics', containerPort: 9090 }],
        },
      ],
    },
  });
}

export function podReadyBody(index: number, isReady: boolean): string {
  const ip = podAddress(index);
  const condition = { type: 'Ready', status: isReady ? 'True' : 'False' };
  return JSON.stringify({
    status: { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions: [condition] },
  });
}

export const podAddress = (index: number): string =>
  `10.${128 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`;

export const sliceName = (service: number): string => `${serviceName(service)}-a`;

const ports = [
  { name: 'http', port: 8080, protocol: 'TCP' },
  { name: 'metrics', port: 9090, protocol: 'TCP' },
];
const podsOf = (service: number): readonly number[] =>
  Array.from({ length: podsEach }, (_, at) => service * podsEach + at);
const reference = (pod: number): object => ({ kind: 'Pod', namespace, name: podName(pod) });

/** As the controller makes it of ready pods. */
export function settledSliceBody(service: number): string {
  return JSON.stringify({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: sliceName(service),
      namespace,
      labels: {
        'kubernetes.io/service-name': serviceName(service),
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      },
    },
    addressType: 'IPv4',
    ports,
    endpoints: podsOf(service).map((pod) => ({
      addresses: [podAddress(pod)],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: nodeName(pod),
      targetRef: reference(pod),
    })),
  });
}

export function settledEndpointsBody(service: number): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: serviceName(service), namespace },
    subsets: [
      {
        addresses: podsOf(service).map((pod) => ({
          ip: podAddress(pod),
          nodeName: nodeName(pod),
          targetRef: reference(pod),
        })),
        ports,
      },
    ],
  });
}

/** The node of a pod. */
export const nodeName = (pod: number): string => `node-${pod % nodes}`;

export const nodeBodies = (): readonly { readonly metadata: { readonly name: string } }[] =>
  Array.from({ length: nodes }, (_, index) => ({ metadata: { name: nodeName(index) } }));
