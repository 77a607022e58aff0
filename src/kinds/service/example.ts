// Builders for tests: a complete, valid Service.
import type { ObjectMeta } from '../../meta/object.ts';
import type { Service, ServicePort, ServiceSpec, ServiceStatus } from './types.ts';

export type ServiceParts = {
  readonly metadata?: ObjectMeta;
  readonly spec?: ServiceSpec;
  readonly status?: Partial<ServiceStatus>;
};

/** A stored single-stack ClusterIP Service with one port; given metadata and spec override it. */
export function exampleService({ metadata, spec, status }: ServiceParts = {}): Service {
  return {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: { name: 'web', namespace: 'default', ...metadata },
    spec: {
      ports: [examplePort()],
      clusterIP: '10.96.0.20',
      clusterIPs: ['10.96.0.20'],
      type: 'ClusterIP',
      sessionAffinity: 'None',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      internalTrafficPolicy: 'Cluster',
      ...spec,
    },
    status: { loadBalancer: {}, ...status },
  };
}

export function examplePort(port: Partial<ServicePort> = {}): ServicePort {
  const number = port.port ?? 80;
  return { protocol: 'TCP', port: number, targetPort: number, ...port };
}

/** A Service as a client sends it, without defaults. */
export function sentService(
  spec: ServiceSpec,
  metadata: ObjectMeta = { name: 'web', namespace: 'default' },
): Service {
  return { kind: 'Service', apiVersion: 'v1', metadata, spec, status: { loadBalancer: {} } };
}
