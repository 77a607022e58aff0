// What a Service's type and policies imply. The names follow pkg/api/service.
import { headlessIP, type Service, type SpecChanges } from './types.ts';

/** The fields that decide, also for a Service that is not complete. */
type Reach = { readonly spec: Pick<SpecChanges, 'type' | 'externalIPs'> };

export function isHeadless({ spec }: Service): boolean {
  return spec.clusterIPs?.length === 1 && spec.clusterIPs[0] === headlessIP;
}

/** By the first field alone, for Services that are not validated yet. */
export function saysHeadless({ spec }: Service): boolean {
  return spec.clusterIP === headlessIP;
}

export function isSelectorless({ spec }: Service): boolean {
  return Object.keys(spec.selector ?? {}).length === 0;
}

/** Whether the type has cluster IPs; None counts. */
export function needsClusterIP({ spec }: Service): boolean {
  return spec.type !== 'ExternalName';
}

/** Whether the type can have node ports. */
export function mayHaveNodePorts({ spec }: Reach): boolean {
  return spec.type === 'NodePort' || spec.type === 'LoadBalancer';
}

/** Whether node ports are allocated for all ports. */
export function wantsNodePorts({ spec }: Service): boolean {
  if (spec.type === 'LoadBalancer') return spec.allocateLoadBalancerNodePorts !== false;
  return spec.type === 'NodePort';
}

export function needsHealthCheck({ spec }: Service): boolean {
  return spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';
}

export function isExternallyAccessible(service: Reach): boolean {
  const { type, externalIPs = [] } = service.spec;
  return mayHaveNodePorts(service) || (type === 'ClusterIP' && externalIPs.length > 0);
}

/** Whether internal traffic is load balanced; false for unknown types. */
export function directsTraffic(service: Reach): boolean {
  return service.spec.type === 'ClusterIP' || mayHaveNodePorts(service);
}
