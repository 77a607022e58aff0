// The spec of pods and pod templates.
import {
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../meta/field-error.ts';
import { validateLabels } from '../../meta/labels.ts';
import { dns1123Subdomain } from '../../meta/names.ts';
import { invalidEach, validateChoice, validateOptionalChoice } from './field-rules.ts';
import type { PodSpec } from './pod-spec.ts';
import { podClaimsOf, validatePodClaims } from './validate-claims.ts';
import { validateContainers, validateHostNetworkPorts } from './validate-container.ts';
import {
  validateDnsConfig,
  validateHostAliases,
  validateHostnameOverride,
  validateHostnames,
} from './validate-dns.ts';
import { validateForOs } from './validate-os.ts';
import { validatePodResources } from './validate-pod-resources.ts';
import { validateResources } from './validate-resources.ts';
import { validateAffinity, validateGates, validateTolerations } from './validate-scheduling.ts';
import { validatePodSecurity } from './validate-security.ts';
import { validateSpread } from './validate-spread.ts';
import { validateVolumes } from './validate-volumes.ts';
import { validateHostProcess } from './validate-windows.ts';

const maxDeadlineSeconds = 2 ** 31 - 1;
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];

/** In upstream's order. */
export function validatePodSpec(
  spec: PodSpec,
  field: string,
  { isTemplate = false }: { readonly isTemplate?: boolean } = {},
): readonly FieldError[] {
  const { errors, byName } = validateVolumes(spec.volumes ?? [], `${field}.volumes`);
  const claims = podClaimsOf(spec);
  return [
    ...errors,
    ...validatePodClaims(spec.resourceClaims ?? [], `${field}.resourceClaims`),
    ...validateContainers(spec, byName, claims, field),
    ...validatePodResources(spec, claims, `${field}.resources`),
    ...validateHostNetworkPorts(spec, isTemplate, field),
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
    ...validateHostProcess(spec, field),
    ...validateHostUsers(spec, field),
    ...validateNames(spec, field),
    ...validateDeadline(spec.activeDeadlineSeconds, `${field}.activeDeadlineSeconds`),
    ...validateHostnames(spec, field),
    ...validateTolerations(spec.tolerations ?? [], `${field}.tolerations`),
    ...validateHostAliases(spec, `${field}.hostAliases`),
    ...validateSubdomain(spec.priorityClassName, `${field}.priorityClassName`),
    ...(spec.runtimeClassName === undefined
      ? []
      : invalidEach(
          `${field}.runtimeClassName`,
          spec.runtimeClassName,
          dns1123Subdomain(spec.runtimeClassName),
        )),
    ...validateOptionalChoice(`${field}.preemptionPolicy`, spec.preemptionPolicy, [
      'PreemptLowerPriority',
      'Never',
    ]),
    ...validateResources({ limits: spec.overhead ?? {} }, `${field}.overhead`),
    ...validateOs(spec.os?.name, `${field}.os`),
    ...validateForOs(spec, field),
    ...validateHostnameOverride(spec, `${field}.hostnameOverride`),
  ];
}

function validateNames(spec: PodSpec, field: string): readonly FieldError[] {
  return [
    ...validateSubdomain(spec.serviceAccountName, `${field}.serviceAccountName`),
    ...validateSubdomain(spec.nodeName, `${field}.nodeName`),
  ];
}

/** An unknown name is reported on the whole field, as upstream. */
function validateOs(name: string | undefined, field: string): readonly FieldError[] {
  if (name === '') return [required(`${field}.name`, 'cannot be empty')];
  const known = ['linux', 'windows'];
  return name === undefined || known.includes(name) ? [] : [notSupported(field, name, known)];
}

/** Optional names of other objects. */
function validateSubdomain(name: string | undefined, field: string): readonly FieldError[] {
  return name ? invalidEach(field, name, dns1123Subdomain(name)) : [];
}

function validateDeadline(seconds: number | undefined, field: string): readonly FieldError[] {
  if (seconds === undefined || (seconds >= 1 && seconds <= maxDeadlineSeconds)) return [];
  return [invalid(field, seconds, `must be between 1 and ${maxDeadlineSeconds}, inclusive`)];
}

const withHostUsers = 'when `hostUsers` is false';

/** A pod with a user namespace of its own must not share host namespaces or block devices (upstream: validateHostUsers). */
function validateHostUsers(spec: PodSpec, field: string): readonly FieldError[] {
  if (spec.hostUsers !== false) return [];
  return [
    ...(spec.hostNetwork ? [forbidden(`${field}.hostNetwork`, withHostUsers)] : []),
    // Upstream's messages use Go's names for these two.
    ...(spec.hostPID ? [forbidden(`${field}.HostPID`, withHostUsers)] : []),
    ...(spec.hostIPC ? [forbidden(`${field}.HostIPC`, withHostUsers)] : []),
    ...(['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((list) =>
      (spec[list] ?? []).flatMap(({ volumeDevices = [] }, index) =>
        volumeDevices.length === 0
          ? []
          : [forbidden(`${field}.${list}[${index}].volumeDevices`, withHostUsers)],
      ),
    ),
  ];
}
