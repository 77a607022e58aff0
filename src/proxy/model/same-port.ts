// Whether two service ports are equal: modes compare by identity, so that an unchanged one must stay the same object.
import type { Endpoint, ServicePort } from './state.ts';

export function isSamePort(a: ServicePort, b: ServicePort): boolean {
  return a === b || (hasSameFacts(a, b) && hasSameLists(a, b));
}

function hasSameFacts(a: ServicePort, b: ServicePort): boolean {
  return (
    a.key === b.key &&
    a.port === b.port &&
    a.clusterIP === b.clusterIP &&
    a.nodePort === b.nodePort &&
    a.allowsBalancerItself === b.allowsBalancerItself &&
    a.affinitySeconds === b.affinitySeconds &&
    a.internalPolicy === b.internalPolicy &&
    a.externalPolicy === b.externalPolicy &&
    a.hasEndpoints === b.hasEndpoints &&
    a.healthCheckNodePort === b.healthCheckNodePort
  );
}

function hasSameLists(a: ServicePort, b: ServicePort): boolean {
  return (
    isSameList(a.externalIPs, b.externalIPs) &&
    isSameList(a.loadBalancerIPs, b.loadBalancerIPs) &&
    (a.sourceRanges === undefined) === (b.sourceRanges === undefined) &&
    isSameList(a.sourceRanges ?? [], b.sourceRanges ?? []) &&
    isSameEndpoints(a.clusterEndpoints, b.clusterEndpoints) &&
    isSameEndpoints(a.localEndpoints, b.localEndpoints)
  );
}

/** The port, with the previous lists of endpoints where these are equal. */
export function shareEndpoints(before: ServicePort, port: ServicePort): ServicePort {
  const { clusterEndpoints, localEndpoints } = before;
  return {
    ...port,
    ...(isSameEndpoints(clusterEndpoints, port.clusterEndpoints) ? { clusterEndpoints } : {}),
    ...(isSameEndpoints(localEndpoints, port.localEndpoints) ? { localEndpoints } : {}),
  };
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((one, n) => one === b[n]));
}

function isSameEndpoints(a: readonly Endpoint[], b: readonly Endpoint[]): boolean {
  if (a === b) return true;
  return a.length === b.length && a.every((one, n) => isSameEndpoint(one, b[n]));
}

function isSameEndpoint(a: Endpoint, b: Endpoint | undefined): boolean {
  return b !== undefined && a.ip === b.ip && a.port === b.port && a.isLocal === b.isLocal;
}
