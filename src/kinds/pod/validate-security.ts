// Identity and rights of containers and pods.
import { type FieldError, invalid, required } from '../../meta/field-error.ts';
import {
  validateChoice,
  validateFilled,
  validateId,
  validateOptionalChoice,
} from './field-rules.ts';
import type { PodSpec } from './pod-spec.ts';
import type { SecurityContext, SecurityProfile } from './security.ts';

export function validateContainerSecurity(
  context: SecurityContext,
  field: string,
): readonly FieldError[] {
  const { privileged, allowPrivilegeEscalation, seccompProfile, appArmorProfile } = context;
  const contradiction = privileged === true && allowPrivilegeEscalation === false;
  return [
    ...validateId(`${field}.runAsUser`, context.runAsUser),
    ...validateId(`${field}.runAsGroup`, context.runAsGroup),
    ...validateOptionalChoice(`${field}.procMount`, context.procMount, ['Default', 'Unmasked']),
    ...validateProfile(seccompProfile, 'seccomp', `${field}.seccompProfile`),
    ...(contradiction
      ? [
          invalid(
            field,
            context,
            'cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
          ),
        ]
      : []),
    ...validateProfile(appArmorProfile, 'AppArmor', `${field}.appArmorProfile`),
  ];
}

export function validatePodSecurity(spec: PodSpec, field: string): readonly FieldError[] {
  const context = spec.securityContext;
  const at = `${field}.securityContext`;
  const bothProcessSpaces = spec.shareProcessNamespace === true && spec.hostPID === true;
  return [
    ...validateId(`${at}.fsGroup`, context?.fsGroup),
    ...validateId(`${at}.runAsUser`, context?.runAsUser),
    ...validateId(`${at}.runAsGroup`, context?.runAsGroup),
    ...(context?.supplementalGroups ?? []).flatMap((group, index) =>
      validateId(`${at}.supplementalGroups[${index}]`, group),
    ),
    ...(bothProcessSpaces
      ? [
          invalid(
            `${at}.shareProcessNamespace`,
            true,
            'ShareProcessNamespace and HostPID cannot both be enabled',
          ),
        ]
      : []),
    ...(context?.sysctls ?? []).flatMap(({ name }, index) =>
      validateFilled(`${at}.sysctls[${index}].name`, name),
    ),
    ...validateOptionalChoice(`${at}.fsGroupChangePolicy`, context?.fsGroupChangePolicy, [
      'Always',
      'OnRootMismatch',
    ]),
    ...validateProfile(context?.seccompProfile, 'seccomp', `${at}.seccompProfile`),
    ...validateProfile(context?.appArmorProfile, 'AppArmor', `${at}.appArmorProfile`),
  ];
}

/** `what` names the technique in the texts. */
function validateProfile(
  profile: SecurityProfile | undefined,
  what: string,
  field: string,
): readonly FieldError[] {
  if (profile === undefined) return [];
  const { type, localhostProfile } = profile;
  const at = `${field}.localhostProfile`;
  if (type === 'Localhost') {
    return localhostProfile ? [] : [required(at, `must be set when ${what} type is Localhost`)];
  }
  return [
    ...(localhostProfile === undefined
      ? []
      : [invalid(at, localhostProfile, `can only be set when ${what} type is Localhost`)]),
    ...validateChoice(`${field}.type`, type, ['Localhost', 'RuntimeDefault', 'Unconfined']),
  ];
}
