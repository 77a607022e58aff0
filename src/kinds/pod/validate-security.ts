// Security contexts of containers and pods.
import {
  type FieldError,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../../meta/field-error.ts';
import { validateId, validateOptionalChoice } from './field-rules.ts';
import { internalForm } from './internal-form.ts';
import type { PodSpec } from './pod-spec.ts';
import { type SecurityContext, type SecurityProfile, securityContext } from './security.ts';
import { validateSysctls } from './validate-sysctls.ts';
import { validateLocalPath } from './validate-volumes.ts';
import { validateWindowsOptions } from './validate-windows.ts';

export function validateContainerSecurity(
  context: SecurityContext,
  sharesUsers: boolean,
  field: string,
): readonly FieldError[] {
  const { privileged, allowPrivilegeEscalation, seccompProfile, appArmorProfile } = context;
  const contradiction = privileged === true && allowPrivilegeEscalation === false;
  return [
    ...validateId(`${field}.runAsUser`, context.runAsUser),
    ...validateId(`${field}.runAsGroup`, context.runAsGroup),
    ...validateOptionalChoice(`${field}.procMount`, context.procMount, ['Default', 'Unmasked']),
    ...(sharesUsers && context.procMount === 'Unmasked'
      ? [
          invalid(
            `${field}.procMount`,
            context.procMount,
            '`hostUsers` must be false to use `Unmasked`',
          ),
        ]
      : []),
    ...validateSeccomp(seccompProfile, `${field}.seccompProfile`),
    ...(contradiction
      ? [
          invalid(
            field,
            internalForm(securityContext, context),
            'cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
          ),
        ]
      : []),
    ...(allowPrivilegeEscalation === false
      ? (context.capabilities?.add ?? [])
          .filter((name) => name === 'CAP_SYS_ADMIN')
          .map(() => invalid(field, internalForm(securityContext, context), escalates))
      : []),
    ...validateWindowsOptions(context.windowsOptions, `${field}.windowsOptions`),
    ...validateAppArmor(appArmorProfile, `${field}.appArmorProfile`),
  ];
}

const escalates =
  'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN';

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
    ...validateSysctls(spec, `${at}.sysctls`),
    ...validateOptionalChoice(`${at}.fsGroupChangePolicy`, context?.fsGroupChangePolicy, [
      'Always',
      'OnRootMismatch',
    ]),
    ...validateSeccomp(context?.seccompProfile, `${at}.seccompProfile`),
    ...validateWindowsOptions(context?.windowsOptions, `${at}.windowsOptions`),
    ...validateAppArmor(context?.appArmorProfile, `${at}.appArmorProfile`),
    ...oneOf(`${at}.supplementalGroupsPolicy`, context?.supplementalGroupsPolicy, [
      'Merge',
      'Strict',
    ]),
    ...oneOf(`${at}.seLinuxChangePolicy`, context?.seLinuxChangePolicy, [
      'MountOption',
      'Recursive',
    ]),
  ];
}

/** Unset or one of the values; an empty text is not allowed. */
function oneOf(
  field: string,
  value: string | undefined,
  choices: readonly string[],
): readonly FieldError[] {
  return value === undefined || choices.includes(value)
    ? []
    : [notSupported(field, value, choices)];
}

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'];

function validateSeccomp(
  profile: SecurityProfile | undefined,
  field: string,
): readonly FieldError[] {
  if (profile === undefined) return [];
  const { type, localhostProfile } = profile;
  const at = `${field}.localhostProfile`;
  const shown = { Type: type, LocalhostProfile: localhostProfile ?? null };
  return [
    ...validateProfileType(type, 'type is required when seccompProfile is set', `${field}.type`),
    ...(type === 'Localhost' && localhostProfile === undefined
      ? [required(at, 'must be set when seccomp type is Localhost')]
      : []),
    ...(type === 'Localhost' && localhostProfile ? validateLocalPath(localhostProfile, at) : []),
    ...(type !== 'Localhost' && localhostProfile !== undefined
      ? [invalid(at, shown, 'can only be set when seccomp type is Localhost')]
      : []),
  ];
}

function validateAppArmor(
  profile: SecurityProfile | undefined,
  field: string,
): readonly FieldError[] {
  if (profile === undefined) return [];
  const { type, localhostProfile } = profile;
  const at = `${field}.localhostProfile`;
  if (type === 'Localhost') return validateLocalProfile(localhostProfile ?? '', at);
  return [
    ...validateProfileType(type, 'type is required when appArmorProfile is set', `${field}.type`),
    ...(localhostProfile !== undefined && profileTypes.includes(type)
      ? [invalid(at, localhostProfile, 'can only be set when AppArmor type is Localhost')]
      : []),
  ];
}

/** PATH_MAX of Linux. */
const maxProfileLength = 4095;

function validateLocalProfile(profile: string, field: string): readonly FieldError[] {
  return [
    ...(profile === '' ? [required(field, 'must be set when AppArmor type is Localhost')] : []),
    ...(profile === profile.trim()
      ? []
      : [invalid(field, profile, 'must not be padded with whitespace')]),
    ...(Buffer.byteLength(profile) > maxProfileLength ? [tooLong(field, maxProfileLength)] : []),
  ];
}

function validateProfileType(type: string, missing: string, field: string): readonly FieldError[] {
  if (type === '') return [required(field, missing)];
  return profileTypes.includes(type) ? [] : [notSupported(field, type, profileTypes)];
}
