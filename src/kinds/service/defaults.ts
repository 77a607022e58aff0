import { directsTraffic, isExternallyAccessible } from './needs.ts';
import {
  type Service,
  type ServicePort,
  type ServiceSpec,
  type SpecChanges,
  withSpec,
} from './types.ts';

/** Upstream's default: three hours. */
const affinityTimeoutSeconds = 10800;

export function defaultService(service: Service): Service {
  const type = service.spec.type ?? 'ClusterIP';
  const { sessionAffinity, sessionAffinityConfig } = affinityDefaults(service.spec);
  const { externalTrafficPolicy, internalTrafficPolicy, allocateLoadBalancerNodePorts } =
    policyDefaults(service.spec, type);
  const ports = defaultPorts(service.spec.ports);
  return defaultIngressModes(
    withSpec(service, {
      type,
      sessionAffinity,
      sessionAffinityConfig,
      ports,
      externalTrafficPolicy,
      internalTrafficPolicy,
      allocateLoadBalancerNodePorts,
    }),
  );
}

/** Without affinity its settings are dropped, valid or not. */
function affinityDefaults(
  spec: ServiceSpec,
): Pick<SpecChanges, 'sessionAffinity' | 'sessionAffinityConfig'> {
  const { sessionAffinity = 'None', sessionAffinityConfig } = spec;
  if (sessionAffinity === 'None') return { sessionAffinity, sessionAffinityConfig: undefined };
  const isComplete = sessionAffinityConfig?.clientIP?.timeoutSeconds !== undefined;
  if (sessionAffinity !== 'ClientIP' || isComplete)
    return { sessionAffinity, sessionAffinityConfig };
  const clientIP = { timeoutSeconds: affinityTimeoutSeconds };
  return { sessionAffinity, sessionAffinityConfig: { clientIP } };
}

type Ports = readonly ServicePort[] | undefined;

/** Returns the same list when nothing is missing, as in most writes. */
function defaultPorts(ports: Ports): Ports {
  return ports?.every(isComplete) ? ports : ports?.map(defaultPort);
}

function isComplete({ protocol, targetPort }: ServicePort): boolean {
  return protocol !== undefined && targetPort !== 0 && targetPort !== '';
}

function defaultPort(port: ServicePort): ServicePort {
  if (isComplete(port)) return port;
  const { name, protocol = 'TCP', appProtocol, port: number, targetPort: given, nodePort } = port;
  const targetPort = given === 0 || given === '' ? number : given;
  // The most common form as one literal: conditional spreads take many times as long.
  if (name !== undefined && appProtocol === undefined && nodePort === undefined)
    return { name, protocol, port: number, targetPort };
  return {
    ...(name === undefined ? {} : { name }),
    protocol,
    ...(appProtocol === undefined ? {} : { appProtocol }),
    port: number,
    targetPort,
    ...(nodePort === undefined ? {} : { nodePort }),
  };
}

function policyDefaults(spec: ServiceSpec, type: ServiceSpec['type']) {
  const { externalTrafficPolicy, internalTrafficPolicy, allocateLoadBalancerNodePorts } = spec;
  const typed = { spec: { type, externalIPs: spec.externalIPs } };
  return {
    externalTrafficPolicy:
      externalTrafficPolicy ?? (isExternallyAccessible(typed) ? 'Cluster' : undefined),
    internalTrafficPolicy: internalTrafficPolicy ?? (directsTraffic(typed) ? 'Cluster' : undefined),
    allocateLoadBalancerNodePorts:
      allocateLoadBalancerNodePorts ?? (type === 'LoadBalancer' ? true : undefined),
  } as const;
}

/** Addresses without ipMode get VIP, if the type in the same body is LoadBalancer. */
function defaultIngressModes(service: Service): Service {
  const { loadBalancer } = service.status;
  if (service.spec.type !== 'LoadBalancer' || loadBalancer.ingress === undefined) return service;
  const ingress = loadBalancer.ingress.map((entry) => {
    if (entry.ip === undefined || entry.ipMode !== undefined) return entry;
    const { ip, hostname, ports } = entry;
    return {
      ip,
      ...(hostname === undefined ? {} : { hostname }),
      ipMode: 'VIP',
      ...(ports === undefined ? {} : { ports }),
    };
  });
  return { ...service, status: { ...service.status, loadBalancer: { ingress } } };
}
