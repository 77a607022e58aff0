// Fields that are forbidden for the pod's operating system (upstream: validateLinux and validateWindows).
import { type FieldError, forbidden } from '../../meta/field-error.ts';
import type { PodSpec } from './pod-spec.ts';
import type { SecurityContext } from './security.ts';

export function validateForOs(spec: PodSpec, field: string): readonly FieldError[] {
  switch (spec.os?.name) {
    case 'linux':
      return validateLinux(spec, field);
    case 'windows':
      return validateWindows(spec, field);
    default:
      return [];
  }
}

const notOnLinux = 'windows options cannot be set for a linux pod';
const notOnWindows = 'cannot be set for a windows pod';

function validateLinux(spec: PodSpec, field: string): readonly FieldError[] {
  const own = spec.securityContext?.windowsOptions;
  const at = 'securityContext.windowsOptions';
  return [
    ...(own === undefined ? [] : [forbidden(`${field}.${at}`, notOnLinux)]),
    ...eachContainer(spec, field, ({ windowsOptions }, container) =>
      windowsOptions === undefined ? [] : [forbidden(`${container}.${at}`, notOnLinux)],
    ),
  ];
}

const linuxOnlyInContainers = [
  ...(['appArmorProfile', 'seLinuxOptions', 'seccompProfile', 'capabilities'] as const),
  ...(['readOnlyRootFilesystem', 'privileged', 'allowPrivilegeEscalation'] as const),
  ...(['procMount', 'runAsUser', 'runAsGroup'] as const),
];

function validateWindows(spec: PodSpec, field: string): readonly FieldError[] {
  const context = spec.securityContext ?? {};
  const at = `${field}.securityContext`;
  const { sysctls = [], supplementalGroups = [] } = context;
  const used: readonly (readonly [string, boolean])[] = [
    [`${at}.appArmorProfile`, context.appArmorProfile !== undefined],
    [`${at}.seLinuxOptions`, context.seLinuxOptions !== undefined],
    [`${field}.hostUsers`, spec.hostUsers !== undefined],
    [`${field}.hostPID`, spec.hostPID === true],
    [`${field}.hostIPC`, spec.hostIPC === true],
    [`${at}.seccompProfile`, context.seccompProfile !== undefined],
    [`${at}.fsGroup`, context.fsGroup !== undefined],
    [`${at}.fsGroupChangePolicy`, context.fsGroupChangePolicy !== undefined],
    [`${at}.sysctls`, sysctls.length > 0],
    [`${field}.shareProcessNamespace`, spec.shareProcessNamespace !== undefined],
    [`${at}.runAsUser`, context.runAsUser !== undefined],
    [`${at}.runAsGroup`, context.runAsGroup !== undefined],
    [`${at}.supplementalGroups`, supplementalGroups.length > 0],
    [`${at}.supplementalGroupsPolicy`, context.supplementalGroupsPolicy !== undefined],
    [`${at}.seLinuxChangePolicy`, context.seLinuxChangePolicy !== undefined],
  ];
  return [
    ...used.flatMap(([name, isUsed]) => (isUsed ? [forbidden(name, notOnWindows)] : [])),
    ...eachContainer(spec, field, (security, container) =>
      linuxOnlyInContainers
        .filter((name) => security[name] !== undefined)
        .map((name) => forbidden(`${container}.securityContext.${name}`, notOnWindows)),
    ),
  ];
}

function eachContainer(
  spec: PodSpec,
  field: string,
  check: (context: SecurityContext, at: string) => readonly FieldError[],
): readonly FieldError[] {
  return (['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((list) =>
    (spec[list] ?? []).flatMap(({ securityContext }, index) =>
      securityContext === undefined ? [] : check(securityContext, `${field}.${list}[${index}]`),
    ),
  );
}
