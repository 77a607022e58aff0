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

/** The node of a pod. */
export const nodeName = (pod: number): string => `node-${pod % nodes}`;

export const nodeBodies = (): readonly { readonly metadata: { readonly name: string } }[] =>
  Array.from({ length: nodes }, (_, index) => ({ metadata: { name: nodeName(index) } }));
