// What the server restores and clears, after addresses and ports are settled.
import { deepEqual } from '../../schema/equality.ts';
import {
  isExternallyAccessible,
  mayHaveNodePorts,
  needsClusterIP,
  needsHealthCheck,
} from './needs.ts';
import {
  replaceSpec,
  replaceStatus,
  type Service,
  type ServicePort,
  type ServiceStatus,
  withSpec,
} from './types.ts';

const emptyStatus: ServiceStatus = { loadBalancer: {} };

export function prepareCreate(service: Service): Service {
  return dropInternalPolicy(replaceStatus(service, emptyStatus));
}

export function prepareUpdate(before: Service, after: Service): Service {
  const wiped = wipes.reduce((service, wipe) => wipe(before, service), after);
  return dropInternalPolicy(replaceStatus(wiped, statusAfter(before, after)));
}

/** A status write changes status and metadata, never the spec. */
export function prepareStatusUpdate(before: Service, after: Service): Service {
  return replaceSpec(after, before.spec);
}

/**
 * Values that no longer apply after a change of type are cleared if the server may have set them and the client did
 * not change them; values that the client changed are left for validation to reject.
 */
type Wipe = (before: Service, after: Service) => Service;

const wipes: readonly Wipe[] = [
  wipeClusterIPs,
  wipeNodePorts,
  wipeHealthCheckPort,
  wipeLoadBalancerFields,
  wipeExternalPolicy,
];

function wipeClusterIPs(before: Service, after: Service): Service {
  if (!needsClusterIP(before) || needsClusterIP(after)) return after;
  const [old, now] = [before.spec, after.spec];
  const sameAddresses =
    old.clusterIP === now.clusterIP && deepEqual(old.clusterIPs, now.clusterIPs);
  return withSpec(after, {
    ...(sameAddresses ? { clusterIP: undefined, clusterIPs: undefined } : {}),
    ...(deepEqual(old.ipFamilies, now.ipFamilies) ? { ipFamilies: undefined } : {}),
    ...(old.ipFamilyPolicy === now.ipFamilyPolicy ? { ipFamilyPolicy: undefined } : {}),
  });
}

/** Ports may change as long as no new node port is specified. */
function wipeNodePorts(before: Service, after: Service): Service {
  if (!mayHaveNodePorts(before) || mayHaveNodePorts(after)) return after;
  const old = new Set(before.spec.ports?.map((port) => port.nodePort));
  const ports = after.spec.ports ?? [];
  if (ports.some(({ nodePort }) => nodePort !== undefined && !old.has(nodePort))) return after;
  return withSpec(after, { ports: after.spec.ports?.map(withoutNodePort) });
}

function withoutNodePort({ nodePort: _nodePort, ...port }: ServicePort): ServicePort {
  return port;
}

function wipeHealthCheckPort(before: Service, after: Service): Service {
  if (!needsHealthCheck(before) || needsHealthCheck(after)) return after;
  const isSame = before.spec.healthCheckNodePort === after.spec.healthCheckNodePort;
  return isSame ? withSpec(after, { healthCheckNodePort: undefined }) : after;
}

function wipeLoadBalancerFields(before: Service, after: Service): Service {
  const [old, now] = [before.spec, after.spec];
  if (old.type !== 'LoadBalancer' || now.type === 'LoadBalancer') return after;
  const sameChoice = old.allocateLoadBalancerNodePorts === now.allocateLoadBalancerNodePorts;
  return withSpec(after, {
    ...(sameChoice ? { allocateLoadBalancerNodePorts: undefined } : {}),
    ...(old.loadBalancerClass === now.loadBalancerClass ? { loadBalancerClass: undefined } : {}),
  });
}

function wipeExternalPolicy(before: Service, after: Service): Service {
  if (!isExternallyAccessible(before) || isExternallyAccessible(after)) return after;
  const isSame = before.spec.externalTrafficPolicy === after.spec.externalTrafficPolicy;
  return isSame ? withSpec(after, { externalTrafficPolicy: undefined }) : after;
}

/** The load balancer status is cleared with the type, even while the load balancer is still being deleted. */
function statusAfter(before: Service, after: Service): ServiceStatus {
  if (after.spec.type === 'LoadBalancer' || isBlank(before.status)) return before.status;
  return { ...before.status, loadBalancer: {} };
}

const isBlank = ({ loadBalancer }: ServiceStatus): boolean => loadBalancer.ingress === undefined;

/**
 * An ExternalName Service has no internalTrafficPolicy. Upstream stores the value and hides it on reads; here it is
 * not stored. An unknown value stays for validation to reject.
 */
function dropInternalPolicy(service: Service): Service {
  const policy: string | undefined = service.spec.internalTrafficPolicy;
  const isValid = policy === 'Cluster' || policy === 'Local';
  if (service.spec.type !== 'ExternalName' || !isValid) return service;
  return withSpec(service, { internalTrafficPolicy: undefined });
}
