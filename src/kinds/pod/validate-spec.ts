// The wanted state of a pod, as pods and pod templates carry it.
import { type FieldError, invalid } from '../../meta/field-error.ts';
import { validateLabels } from '../../meta/labels.ts';
import { dns1123Subdomain } from '../../meta/names.ts';
import { invalidEach, validateChoice, validateOptionalChoice } from './field-rules.ts';
import type { PodSpec } from './pod-spec.ts';
import { validateContainers } from './validate-container.ts';
import {
  validateDnsConfig,
  validateHostAliases,
  validateHostnameOverride,
  validateHostnames,
} from './validate-dns.ts';
import { validateAmount, validateResources } from './validate-resources.ts';
import {
  validateAffinity,
  validateGates,
  validateSpread,
  validateTolerations,
} from './validate-scheduling.ts';
import { validatePodSecurity } from './validate-security.ts';
import { validateVolumes } from './validate-volumes.ts';

const longestDeadline = 2 ** 31 - 1;
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];

/** In the order in which Kubernetes reports what is wrong. */
export function validatePodSpec(spec: PodSpec, field: string): readonly FieldError[] {
  const { errors, names } = validateVolumes(spec.volumes ?? [], `${field}.volumes`);
  return [
    ...errors,
    ...validateContainers(spec, names, field),
    ...(spec.resources === undefined
      ? []
      : validateResources(spec.resources, `${field}.resources`)),
    ...validateChoice(`${field}.restartPolicy`, spec.restartPolicy, [
      'Always',
      'OnFailure',
      'Never',
    ]),
    ...validateChoice(`${field}.dnsPolicy`, spec.dnsPolicy, dnsPolicies),
    ...validateLabels(spec.nodeSelector, `${field}.nodeSelector`),
    ...validatePodSecurity(spec, field),
    ...validateAffinity(spec.affinity, `${field}.affinity`),
    ...validateDnsConfig(spec, `${field}.dnsConfig`),
    ...validateGates(spec, field),
    ...validateSpread(spec.topologySpreadConstraints ?? [], `${field}.topologySpreadConstraints`),
    ...validateNames(spec, field),
    ...validateDeadline(spec.activeDeadlineSeconds, `${field}.activeDeadlineSeconds`),
    ...validateHostnames(spec, field),
    ...validateTolerations(spec.tolerations ?? [], `${field}.tolerations`),
    ...validateHostAliases(spec, `${field}.hostAliases`),
    ...validateSubdomain(spec.priorityClassName, `${field}.priorityClassName`),
    ...validateSubdomain(spec.runtimeClassName, `${field}.runtimeClassName`),
    ...validateOptionalChoice(`${field}.preemptionPolicy`, spec.preemptionPolicy, [
      'Never',
      'PreemptLowerPriority',
    ]),
    ...Object.entries(spec.overhead ?? {}).flatMap(([name, amount]) =>
      validateAmount(name, amount, `${field}.overhead[${name}]`),
    ),
    ...(spec.os === undefined
      ? []
      : validateChoice(`${field}.os.name`, spec.os.name, ['linux', 'windows'])),
    ...validateHostnameOverride(spec, `${field}.hostnameOverride`),
  ];
}

function validateNames(spec: PodSpec, field: string): readonly FieldError[] {
  return [
    ...validateSubdomain(spec.serviceAccountName, `${field}.serviceAccountName`),
    ...validateSubdomain(spec.nodeName, `${field}.nodeName`),
  ];
}

/** Names of other objects, where one is given. */
function validateSubdomain(name: string | undefined, field: string): readonly FieldError[] {
  return name ? invalidEach(field, name, dns1123Subdomain(name)) : [];
}

function validateDeadline(seconds: number | undefined, field: string): readonly FieldError[] {
  if (seconds === undefined || (seconds >= 1 && seconds <= longestDeadline)) return [];
  return [invalid(field, seconds, `must be between 1 and ${longestDeadline}, inclusive`)];
}
