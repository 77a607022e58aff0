// Services and nodes for tests, as the API server would show them.
import type { Node } from '../kinds/node/types.ts';
import type { Service, ServicePort } from '../kinds/service/types.ts';

export type ServiceExample = {
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly deletionTimestamp?: string;
  readonly creationTimestamp?: string;
  readonly spec?: Partial<Service['spec']>;
  readonly status?: Service['status'];
};

export const examplePort: ServicePort = {
  name: 'http',
  protocol: 'TCP',
  port: 80,
  targetPort: 8080,
  nodePort: 30080,
};

/** Of type LoadBalancer, with one port and one family, unless told otherwise. */
export function exampleService(example: ServiceExample = {}): Service {
  const { namespace = 'default', name = 'web', uid = exampleUid(`${namespace}/${name}`) } = example;
  const { spec, status = { loadBalancer: {} }, ...metadata } = example;
  return {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: {
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...metadataOf(metadata),
      namespace,
      name,
      uid,
    },
    spec: {
      type: 'LoadBalancer',
      clusterIP: '10.96.0.10',
      clusterIPs: ['10.96.0.10'],
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      ports: [examplePort],
      sessionAffinity: 'None',
      externalTrafficPolicy: 'Cluster',
      internalTrafficPolicy: 'Cluster',
      allocateLoadBalancerNodePorts: true,
      ...spec,
    },
    status,
  };
}

function metadataOf({
  annotations,
  finalizers,
  deletionTimestamp,
  creationTimestamp,
}: Omit<ServiceExample, 'spec' | 'status'>): Partial<Service['metadata']> {
  return {
    ...(annotations === undefined ? {} : { annotations }),
    ...(finalizers === undefined ? {} : { finalizers: [...finalizers] }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
  };
}

/** In the form of a UUID, and the same for the same text. */
export function exampleUid(text: string): string {
  const digits = [1, 2, 3, 4].map((part) => {
    let hash = part;
    for (const letter of text) hash = (Math.imul(hash, 16777619) ^ letter.charCodeAt(0)) >>> 0;
    return hash.toString(16).padStart(8, '0');
  });
  return digits.join('').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

export function exampleNode(name: string, address: string, providerID = ''): Node {
  return {
    kind: 'Node',
    apiVersion: 'v1',
    metadata: { name, uid: exampleUid(name) },
    spec: { providerID },
    status: {
      addresses: [{ type: 'InternalIP', address }],
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      nodeInfo: {
        ...{ architecture: '', bootID: '', containerRuntimeVersion: '', kernelVersion: '' },
        ...{ kubeProxyVersion: '', kubeletVersion: '', machineID: '', operatingSystem: '' },
        ...{ osImage: '', systemUUID: '' },
      },
    },
  };
}
