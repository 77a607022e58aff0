// Source ranges, traffic policies, node port allocation and load balancer class.
import {
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../meta/field-error.ts';
import { portNumber, qualifiedName } from '../../meta/names.ts';
import { validateCIDR } from '../../meta/validate-ip.ts';
import { sourceRangesAnnotation } from '../../meta/well-known-annotations.ts';
import { directsTraffic, isExternallyAccessible, needsHealthCheck } from './needs.ts';
import { annotatedRanges } from './source-ranges.ts';
import type { Service, ServiceSpec } from './types.ts';

const onlyForLoadBalancers = "may only be used when `type` is 'LoadBalancer'";

/** The annotation counts only where the field is empty. */
export function validateSourceRanges(service: Service, before?: Service): readonly FieldError[] {
  const { type, loadBalancerSourceRanges: ranges = [] } = service.spec;
  // The capital letter is upstream's.
  const specField = 'spec.LoadBalancerSourceRanges';
  const stored = before?.spec.loadBalancerSourceRanges?.map((range) => range.trim()) ?? [];
  const misplaced = (field: string): readonly FieldError[] =>
    type === 'LoadBalancer' ? [] : [forbidden(field, onlyForLoadBalancers)];
  if (ranges.length > 0) {
    return [
      ...misplaced(specField),
      ...ranges.flatMap((range, i) => validateCIDR(`${specField}[${i}]`, range.trim(), stored)),
    ];
  }
  if (service.metadata.annotations?.[sourceRangesAnnotation] === undefined) return [];
  const field = `metadata.annotations[${sourceRangesAnnotation}]`;
  return [
    ...misplaced(field),
    ...annotatedRanges(service).flatMap((range) =>
      validateCIDR(field, range, before === undefined ? [] : annotatedRanges(before)),
    ),
  ];
}

export function validateNodePortChoice({ spec }: Service): readonly FieldError[] {
  const field = 'spec.allocateLoadBalancerNodePorts';
  const isGiven = spec.allocateLoadBalancerNodePorts !== undefined;
  // Upstream's path lacks `spec`.
  if (spec.type === 'LoadBalancer')
    return isGiven ? [] : [required('allocateLoadBalancerNodePorts')];
  return isGiven ? [forbidden(field, onlyForLoadBalancers)] : [];
}

export function validateLoadBalancerClass({ spec }: Service): readonly FieldError[] {
  const field = 'spec.loadBalancerClass';
  const { type, loadBalancerClass } = spec;
  if (loadBalancerClass === undefined) return [];
  if (type !== 'LoadBalancer') return [forbidden(field, onlyForLoadBalancers)];
  return qualifiedName(loadBalancerClass).map((detail) =>
    invalid(field, loadBalancerClass, detail),
  );
}

export function validateTrafficPolicies(service: Service): readonly FieldError[] {
  return [
    ...externalPolicyErrors(service),
    ...healthCheckErrors(service),
    ...internalPolicyErrors(service),
    ...distributionErrors(service.spec),
  ];
}

const policies: readonly string[] = ['Cluster', 'Local'];

function externalPolicyErrors(service: Service): readonly FieldError[] {
  const field = 'spec.externalTrafficPolicy';
  const policy = service.spec.externalTrafficPolicy;
  if (!isExternallyAccessible(service)) {
    const detail = 'may only be set for externally-accessible services';
    return policy === undefined ? [] : [invalid(field, policy, detail)];
  }
  if (policy === undefined) return [required(field)];
  return policies.includes(policy) ? [] : [notSupported(field, policy, policies)];
}

function healthCheckErrors(service: Service): readonly FieldError[] {
  const field = 'spec.healthCheckNodePort';
  const port = service.spec.healthCheckNodePort;
  if (needsHealthCheck(service)) {
    if (port === undefined) return [required(field)];
    return portNumber(port).map((detail) => invalid(field, port, detail));
  }
  const detail =
    "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
  return port === undefined ? [] : [invalid(field, port, detail)];
}

function internalPolicyErrors(service: Service): readonly FieldError[] {
  const field = 'spec.internalTrafficPolicy';
  const policy = service.spec.internalTrafficPolicy;
  if (policy !== undefined) {
    return policies.includes(policy) ? [] : [notSupported(field, policy, policies)];
  }
  return directsTraffic(service) ? [required(field)] : [];
}

const distributions: readonly string[] = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];

function distributionErrors({ trafficDistribution }: ServiceSpec): readonly FieldError[] {
  if (trafficDistribution === undefined || distributions.includes(trafficDistribution)) return [];
  return [notSupported('spec.trafficDistribution', trafficDistribution, distributions)];
}
