// What a Service requests, port by port, in one family: before its endpoints are known, and before it is decided which Service
// gets an address that several request.
import { parseAddress } from '../../ip/address.ts';
import { containsAddress, parseCidr } from '../../ip/cidr.ts';
import { addressesOfFamily, rangesOfFamily } from '../../ip/family-address.ts';
import { sourceRangesOf } from '../../kinds/service/source-ranges.ts';
import {
  headlessIP,
  type LoadBalancerIngress,
  type Service,
  type ServicePort as SpecPort,
} from '../../kinds/service/types.ts';
import { serviceProxyNameLabel } from '../../meta/well-known-labels.ts';
import type { Family, Protocol, ServicePort } from './state.ts';

/** A service port without what comes from endpoints. */
export type PortRequest = Omit<ServicePort, 'clusterEndpoints' | 'localEndpoints' | 'hasEndpoints'>;

export type ServicePortsOptions = {
  readonly family: Family;
  /** The node's first address; absent while it is not known. */
  readonly nodeIP?: string;
  /** KPX-26: a cluster can switch external IPs off. */
  readonly allowsExternalIPs: boolean;
};
const noAddresses: readonly string[] = [];
const defaultAffinitySeconds = 10_800;
const maxPort = 65_535;

/** Why no proxy has rules for a Service in a family. */
export type NotProxied =
  | 'external-name'
  /** A label gives it to another proxy. */
  | 'other-proxy'
  | 'headless'
  | 'no-cluster-ip'
  | 'other-family';

/** Empty for a Service that is not proxied, or not in this family (KPX-02, KPX-03). */
export function servicePorts(
  service: Service,
  options: ServicePortsOptions,
): readonly PortRequest[] {
  const proxied = explainProxying(service, options.family);
  if ('why' in proxied) return [];
  const common = commonParts(service, proxied.clusterIP, options);
  return (service.spec.ports ?? []).flatMap((port) => portRequest(service, port, common) ?? []);
}

export function explainProxying(
  service: Service,
  family: Family,
): { readonly clusterIP: string } | { readonly why: NotProxied } {
  const { metadata, spec } = service;
  if (spec.type === 'ExternalName') return { why: 'external-name' };
  if (metadata.labels?.[serviceProxyNameLabel] !== undefined) return { why: 'other-proxy' };
  if (spec.clusterIP === undefined || spec.clusterIP === '') return { why: 'no-cluster-ip' };
  if (spec.clusterIP === headlessIP) return { why: 'headless' };
  const clusterIP = clusterIPOf(service, family);
  return clusterIP === undefined ? { why: 'other-family' } : { clusterIP };
}

function clusterIPOf({ spec }: Service, family: Family): string | undefined {
  const all = [spec.clusterIP ?? '', ...(spec.clusterIPs ?? [])];
  return addressesOfFamily(all, family)[0];
}

type CommonParts = Pick<
  PortRequest,
  | 'namespace'
  | 'name'
  | 'clusterIP'
  | 'externalIPs'
  | 'loadBalancerIPs'
  | 'sourceRanges'
  | 'allowsBalancerItself'
  | 'affinitySeconds'
  | 'internalPolicy'
  | 'externalPolicy'
  | 'healthCheckNodePort'
>;

function commonParts(
  service: Service,
  clusterIP: string,
  options: ServicePortsOptions,
): CommonParts {
  const { metadata, spec } = service;
  const loadBalancerIPs = balancerIPs(service, options.family).filter((ip) => ip !== clusterIP);
  const captured = new Set([clusterIP, ...loadBalancerIPs]);
  const externalIPs = options.allowsExternalIPs
    ? addressesOfFamily(spec.externalIPs ?? noAddresses, options.family)
    : noAddresses;
  // kube-proxy leaves the annotation to the cloud's load balancer. Those of `src/cloud/providers/local` filter nothing: the node must.
  const ranges = rangesOfFamily(sourceRangesOf(service), options.family);
  // No range of this family means no restriction in it, and so does a range of all addresses (KPX-28).
  const isFiltered = ranges.length > 0 && !ranges.some((range) => range.endsWith('/0'));
  const externalPolicy = hasLocalExternalPolicy(service) ? 'Local' : 'Cluster';
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    clusterIP,
    // An address that is both is the load balancer's, so that its source ranges cannot be bypassed.
    externalIPs: orShared(externalIPs.filter((ip) => !captured.has(ip))),
    loadBalancerIPs: orShared(loadBalancerIPs),
    ...(isFiltered ? { sourceRanges: ranges } : {}),
    allowsBalancerItself: isFiltered && hasNode(ranges, options.nodeIP),
    ...affinity(service),
    internalPolicy: spec.internalTrafficPolicy === 'Local' ? 'Local' : 'Cluster',
    externalPolicy,
    ...(externalPolicy === 'Local' && spec.type === 'LoadBalancer' && spec.healthCheckNodePort
      ? { healthCheckNodePort: spec.healthCheckNodePort }
      : {}),
  };
}

/** Most Services have none of these: one empty list for all of them. */
function orShared(list: readonly string[]): readonly string[] {
  return list.length === 0 ? noAddresses : list;
}

/** KPX-27: addresses with ipMode Proxy are not captured, because their load balancer delivers to nodes or pods itself. */
function balancerIPs({ status }: Service, family: Family): readonly string[] {
  const ingress = status?.loadBalancer?.ingress;
  if (ingress === undefined) return noAddresses;
  return addressesOfFamily(
    ingress.filter(isCaptured).map(({ ip }) => ip ?? ''),
    family,
  );
}

/** Of an address in the status of a load balancer. */
export function isCaptured({ ipMode }: LoadBalancerIngress): boolean {
  return ipMode === undefined || ipMode === 'VIP';
}

/** The policy applies only to Services that are reachable from outside. */
function hasLocalExternalPolicy({ spec }: Service): boolean {
  if (spec.externalTrafficPolicy !== 'Local') return false;
  return spec.type === 'LoadBalancer' || spec.type === 'NodePort' || hasAny(spec.externalIPs);
}

const hasAny = (list: readonly unknown[] | undefined): boolean =>
  list !== undefined && list.length > 0;

/** Whether a range contains the node's address, so that the balancer itself is let in (KPX-29). */
function hasNode(ranges: readonly string[], nodeIP: string | undefined): boolean {
  const address = nodeIP === undefined ? undefined : parseAddress(nodeIP);
  if (address === undefined) return false;
  return ranges.some((range) => {
    const cidr = parseCidr(range);
    return cidr !== undefined && containsAddress(cidr, address);
  });
}

function affinity({ spec }: Service): Pick<PortRequest, 'affinitySeconds'> {
  if (spec.sessionAffinity !== 'ClientIP') return {};
  const seconds = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds;
  return { affinitySeconds: seconds ?? defaultAffinitySeconds };
}

function portRequest(
  { metadata }: Service,
  port: SpecPort,
  common: CommonParts,
): PortRequest | undefined {
  const protocol = knownProtocol(port.protocol);
  if (protocol === undefined || port.port < 1 || port.port > maxPort) return undefined;
  const portName = port.name ?? '';
  return {
    // join() makes a flat string; + would make a rope of the parts, which takes more memory.
    key: [metadata.namespace, '/', metadata.name, ':', portName, '/', protocol].join(''),
    portName,
    protocol,
    port: port.port,
    ...common,
    ...(port.nodePort ? { nodePort: port.nodePort } : {}),
  };
}

/** TCP when absent, as in slices written by hand; undefined for protocols that no mode supports. */
export function knownProtocol(text: string | undefined): Protocol | undefined {
  if (text === undefined || text === '') return 'TCP';
  return text === 'TCP' || text === 'UDP' || text === 'SCTP' ? text : undefined;
}

/** Otherwise only the internal policy Cluster uses the cluster's endpoints. */
export function isExternallyReachable(
  port: Pick<PortRequest, 'nodePort' | 'externalIPs' | 'loadBalancerIPs'>,
): boolean {
  return (
    port.nodePort !== undefined || port.externalIPs.length > 0 || port.loadBalancerIPs.length > 0
  );
}
