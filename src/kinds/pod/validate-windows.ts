// Windows options, which are validated for every operating system.
import { type FieldError, invalid } from '../../meta/field-error.ts';
import { dns1123Subdomain } from '../../meta/names.ts';
import { invalidEach } from './field-rules.ts';
import type { PodSpec } from './pod-spec.ts';
import type { SecurityContext } from './security.ts';

type WindowsOptions = NonNullable<SecurityContext['windowsOptions']>;

const maxCredentialKibibytes = 64;
const maxDomain = 256;
const maxUser = 104;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what names must not have
const controlCharacter = /[\x00-\x1f\x7f]/;
const netBiosDomain = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/u;
const dnsLabel = /^[a-zA-Z0-9-]{1,63}$/;
const isDnsLabel = (label: string): boolean =>
  dnsLabel.test(label) && !label.startsWith('-') && !label.endsWith('-');

export function validateWindowsOptions(
  options: WindowsOptions | undefined,
  field: string,
): readonly FieldError[] {
  if (options === undefined) return [];
  const { gmsaCredentialSpecName: name, gmsaCredentialSpec: spec, runAsUserName: user } = options;
  return [
    ...(name === undefined
      ? []
      : invalidEach(`${field}.gmsaCredentialSpecName`, name, dns1123Subdomain(name))),
    ...(spec === undefined
      ? []
      : invalidEach(`${field}.gmsaCredentialSpec`, spec, credentialProblems(spec))),
    ...(user === undefined ? [] : invalidEach(`${field}.runAsUserName`, user, userProblems(user))),
  ];
}

function credentialProblems(spec: string): readonly string[] {
  if (spec === '') return ['gmsaCredentialSpec cannot be an empty string'];
  return Buffer.byteLength(spec) > maxCredentialKibibytes * 1024
    ? [`gmsaCredentialSpec size must be under ${maxCredentialKibibytes} KiB`]
    : [];
}

function userProblems(name: string): readonly string[] {
  if (name === '') return ['runAsUserName cannot be an empty string'];
  if (controlCharacter.test(name)) return ['runAsUserName cannot contain control characters'];
  const parts = name.split('\\');
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash'];
  const user = parts.at(-1) ?? '';
  return [...(parts.length === 2 ? domainProblems(parts[0] ?? '') : []), ...accountProblems(user)];
}

function domainProblems(domain: string): readonly string[] {
  const isDomain = netBiosDomain.test(domain) || domain.split('.').every(isDnsLabel);
  return [
    ...(Buffer.byteLength(domain) >= maxDomain
      ? [`runAsUserName's Domain length must be under ${maxDomain} characters`]
      : []),
    ...(isDomain ? [] : ["runAsUserName's Domain doesn't match the NetBios nor the DNS format"]),
  ];
}

function accountProblems(user: string): readonly string[] {
  return [
    ...(user === '' ? ["runAsUserName's User cannot be empty"] : []),
    ...(Buffer.byteLength(user) > maxUser
      ? [`runAsUserName's User length must not be longer than ${maxUser} characters`]
      : []),
    ...(/^[. ]+$/.test(user) ? ["runAsUserName's User cannot contain only periods or spaces"] : []),
    ...(/["/\\:;|=,+*?<>@[\]]/.test(user)
      ? [`runAsUserName's User cannot contain the following characters: "/\\:;|=,+*?<>@[]`]
      : []),
  ];
}

/** hostProcess: all containers of a pod or none, and only with hostNetwork. */
export function validateHostProcess(spec: PodSpec, field: string): readonly FieldError[] {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  const containers = (['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap(
    (list) =>
      (spec[list] ?? []).map(({ securityContext }, index) => ({
        own: securityContext?.windowsOptions?.hostProcess,
        at: `${field}.${list}[${index}].securityContext.windowsOptions.hostProcess`,
      })),
  );
  const count = containers.filter(({ own }) => own ?? ofPod).length;
  return [
    ...containers.flatMap(({ own, at }) =>
      ofPod === undefined || own === undefined || own === ofPod
        ? []
        : [
            invalid(
              at,
              own,
              `pod hostProcess value must be identical if both are specified, was ${ofPod}`,
            ),
          ],
    ),
    ...(count > 0 && count !== containers.length ? [invalid(field, '', mixedProcesses)] : []),
    ...(count > 0 && !spec.hostNetwork
      ? [
          invalid(
            `${field}.hostNetwork`,
            false,
            'hostNetwork must be true if pod contains any hostProcess containers',
          ),
        ]
      : []),
  ];
}

const mixedProcesses =
  'If pod contains any hostProcess containers then all containers must be HostProcess containers';
