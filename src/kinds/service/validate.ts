// Validation of Services. The order is upstream's, because it determines the error message
// (pkg/apis/core/validation/validation.go, ValidateService). Common metadata is validated elsewhere.
import {
  type FieldError,
  forbidden,
  invalid,
  joined,
  notSupported,
  required,
} from '../../meta/field-error.ts';
import { validateLabels } from '../../meta/labels.ts';
import { dns1123Subdomain } from '../../meta/names.ts';
import { validateIPLegacy } from '../../meta/validate-ip.ts';
import {
  topologyHintsAnnotation,
  topologyModeAnnotation,
} from '../../meta/well-known-annotations.ts';
import { validateEndpointIP } from '../endpoints/validate-endpoint-ip.ts';
import { isHeadless } from './needs.ts';
import type { Service, ServiceSpec } from './types.ts';
import { validateClusterIPFields } from './validate-cluster-ips.ts';
import { validatePorts, validatePortUse } from './validate-ports.ts';
import {
  validateLoadBalancerClass,
  validateNodePortChoice,
  validateSourceRanges,
  validateTrafficPolicies,
} from './validate-traffic.ts';

/** `before` is the stored Service of an update: unchanged values are not subject to newer rules. */
export function validateService(service: Service, before?: Service): readonly FieldError[] {
  const { spec } = service;
  // Most updates do not change the spec; then only annotations need validation.
  if (before?.spec === spec && goodSpecs.has(spec)) {
    return joined([topologyErrors(service), validateSourceRanges(service, before)]);
  }
  const errors = joined([
    topologyErrors(service),
    missingPortsErrors(service),
    typeSpecificErrors(service),
    validatePorts(spec.ports ?? []),
    validateLabels(spec.selector ?? {}, 'spec.selector'),
    affinityErrors(spec),
    validateClusterIPFields(service, before),
    externalIPErrors(spec, before),
    typeErrors(spec),
    validatePortUse(service),
    validateSourceRanges(service, before),
    validateNodePortChoice(service),
    validateLoadBalancerClass(service),
    validateTrafficPolicies(service),
  ]);
  if (errors.length === 0 && before?.spec === spec) goodSpecs.add(spec);
  return errors;
}

/** Valid specs; specs are immutable objects. */
const goodSpecs = new WeakSet<ServiceSpec>();

function topologyErrors({ metadata }: Service): readonly FieldError[] {
  const mode = metadata.annotations?.[topologyModeAnnotation];
  const hints = metadata.annotations?.[topologyHintsAnnotation];
  if (mode === undefined || hints === undefined || mode === hints) return [];
  const detail = `must match annotations[${topologyHintsAnnotation}] when both are specified`;
  return [invalid(`metadata.annotations[${topologyModeAnnotation}]`, mode, detail)];
}

function missingPortsErrors(service: Service): readonly FieldError[] {
  const { type, ports = [] } = service.spec;
  const isNeeded = !isHeadless(service) && type !== 'ExternalName';
  return ports.length === 0 && isNeeded ? [required('spec.ports')] : [];
}

function typeSpecificErrors(service: Service): readonly FieldError[] {
  switch (service.spec.type) {
    case 'LoadBalancer':
    case 'NodePort':
      return headlessErrors(service);
    case 'ExternalName':
      return externalNameErrors(service.spec);
    default:
      return [];
  }
}

function headlessErrors(service: Service): readonly FieldError[] {
  if (!isHeadless(service)) return [];
  const { type, clusterIPs = [] } = service.spec;
  const detail = `may not be set to 'None' for ${type} services`;
  return [invalid('spec.clusterIPs[0]', clusterIPs[0], detail)];
}

function externalNameErrors(spec: ServiceSpec): readonly FieldError[] {
  const set = {
    clusterIPs: spec.clusterIPs?.length,
    ipFamilies: spec.ipFamilies?.length,
    ipFamilyPolicy: spec.ipFamilyPolicy !== undefined,
  };
  const detail = 'may not be set for ExternalName services';
  // A trailing dot marks a fully qualified name.
  const name = spec.externalName?.replace(/\.$/, '') ?? '';
  return [
    ...Object.entries(set).flatMap(([field, isSet]) =>
      isSet ? [forbidden(`spec.${field}`, detail)] : [],
    ),
    ...(name === ''
      ? [required('spec.externalName')]
      : dns1123Subdomain(name).map((wrong) => invalid('spec.externalName', name, wrong))),
  ];
}

const affinities: readonly string[] = ['ClientIP', 'None'];
const maxAffinitySeconds = 86400;

function affinityErrors(spec: ServiceSpec): readonly FieldError[] {
  const { sessionAffinity, sessionAffinityConfig } = spec;
  const field = 'spec.sessionAffinity';
  if (sessionAffinity === undefined) return [required(field)];
  if (!affinities.includes(sessionAffinity)) {
    return [notSupported(field, sessionAffinity, affinities)];
  }
  if (sessionAffinity === 'ClientIP') return timeoutErrors(sessionAffinityConfig);
  if (sessionAffinityConfig === undefined) return [];
  return [forbidden(`${field}Config`, 'must not be set when session affinity is None')];
}

function timeoutErrors(config: ServiceSpec['sessionAffinityConfig']): readonly FieldError[] {
  const field = 'spec.sessionAffinityConfig';
  const detail = 'when session affinity type is ClientIP';
  if (config === undefined) return [required(field, detail)];
  if (config.clientIP === undefined) return [required(`${field}.clientIP`, detail)];
  const seconds = config.clientIP.timeoutSeconds;
  if (seconds === undefined) return [required(`${field}.clientIP.timeoutSeconds`, detail)];
  if (seconds > 0 && seconds <= maxAffinitySeconds) return [];
  const wrong = `must be greater than 0 and less than ${maxAffinitySeconds}`;
  return [invalid(`${field}.clientIP.timeoutSeconds`, seconds, wrong)];
}

function externalIPErrors(spec: ServiceSpec, before: Service | undefined): readonly FieldError[] {
  return (spec.externalIPs ?? []).flatMap((ip, index) => {
    const field = `spec.externalIPs[${index}]`;
    const malformed = validateIPLegacy(field, ip, before?.spec.externalIPs ?? []);
    return malformed.length > 0 ? malformed : validateEndpointIP(field, ip);
  });
}

const types: readonly string[] = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];

function typeErrors({ type }: ServiceSpec): readonly FieldError[] {
  if (type === undefined) return [required('spec.type')];
  return types.includes(type) ? [] : [notSupported('spec.type', type, types)];
}
