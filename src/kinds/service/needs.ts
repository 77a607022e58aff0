// What a Service's type and policies imply. The names follow the questions that upstream asks in pkg/api/service.
import { headlessIP, type Service, type SpecChanges } from './types.ts';

/** What some questions need to know, also before there is a whole Service. */
type Reach = { readonly spec: Pick<SpecChanges, 'type' | 'externalIPs'> };

export function isHeadless({ spec }: Service): boolean {
  return spec.clusterIPs?.length === 1 && spec.clusterIPs[0] === headlessIP;
}

/** Headless as the first field alone says it; before the plural field has been checked. */
export function saysHeadless({ spec }: Service): boolean {
  return spec.clusterIP === headlessIP;
}

export function isSelectorless({ spec }: Service): boolean {
  return Object.keys(spec.selector ?? {}).length === 0;
}

/** Whether the type has cluster IPs; None counts as one. */
export function needsClusterIP({ spec }: Service): boolean {
  return spec.type !== 'ExternalName';
}

/** Whether the type can have node ports. */
export function mayHaveNodePorts({ spec }: Reach): boolean {
  return spec.type === 'NodePort' || spec.type === 'LoadBalancer';
}

/** Whether ports without a node port are given one. */
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

/** Whether traffic from inside the cluster has a choice of endpoints; no type that is unknown has. */
export function directsTraffic(service: Reach): boolean {
  return service.spec.type === 'ClusterIP' || mayHaveNodePorts(service);
}
