// The reported state of a pod.

import { familyOf } from '../../ip/address.ts';
import { duplicate, type FieldError, forbidden, invalid } from '../../meta/field-error.ts';
import { dns1123Subdomain, qualifiedName } from '../../meta/names.ts';
import { validateIPLegacy } from '../../meta/validate-ip.ts';
import { invalidEach } from './field-rules.ts';
import type { ContainerStatus } from './pod-status.ts';
import type { Pod } from './types.ts';

const ownConditions = new Set(['PodScheduled', 'Ready', 'Initialized']);

export function validatePodStatusUpdate(before: Pod, after: Pod): readonly FieldError[] {
  const { conditions = [], nominatedNodeName = '' } = after.status;
  return [
    ...conditions.flatMap(({ type }, index) =>
      ownConditions.has(type)
        ? []
        : invalidEach(`status.conditions[${index}].Type`, type, qualifiedName(type)),
    ),
    ...(nominatedNodeName === ''
      ? []
      : invalidEach(
          'status.nominatedNodeName',
          nominatedNodeName,
          dns1123Subdomain(nominatedNodeName),
        )),
    ...validateRestarts(before, after),
    ...validatePodIPs(before, after),
    ...validateHostIPs(before, after),
  ];
}

/** A container that will not be restarted has ended for good. */
function validateRestarts(before: Pod, after: Pod): readonly FieldError[] {
  const policy = after.spec.restartPolicy;
  if (policy !== 'Never' && policy !== 'OnFailure') return [];
  const now = new Map(
    (after.status.containerStatuses ?? []).map((c, index) => [c.name, { c, index }]),
  );
  return (before.status.containerStatuses ?? []).flatMap((was) => {
    const found = now.get(was.name);
    if (found === undefined || !endedForGood(was, policy)) return [];
    return found.c.state.terminated === undefined
      ? [
          forbidden(
            `status.containerStatuses[${found.index}].state`,
            'may not be transitioned to non-terminated state',
          ),
        ]
      : [];
  });
}

function endedForGood({ state }: ContainerStatus, policy: string): boolean {
  if (state.terminated === undefined) return false;
  return policy === 'Never' || state.terminated.exitCode === 0;
}

function validatePodIPs(before: Pod, after: Pod): readonly FieldError[] {
  const field = 'status.podIPs';
  const ips = (after.status.podIPs ?? []).map(({ ip }) => ip);
  const known = (before.status.podIPs ?? []).map(({ ip }) => ip);
  return [
    ...ips.flatMap((ip, index) => validateIPLegacy(`${field}[${index}]`, ip, known)),
    ...validateFamilies(ips, field),
    ...validateUnique(ips, field),
  ];
}

function validateHostIPs(before: Pod, after: Pod): readonly FieldError[] {
  const field = 'status.hostIPs';
  const ips = (after.status.hostIPs ?? []).map(({ ip }) => ip);
  const known = (before.status.hostIPs ?? []).map(({ ip }) => ip);
  const [first] = ips;
  if (first === undefined) return [];
  return [
    ...(first === (after.status.hostIP ?? '')
      ? []
      : [invalid(`${field}[0].ip`, first, 'must be equal to `hostIP`')]),
    ...ips.flatMap((ip, index) => validateIPLegacy(`${field}[${index}]`, ip, known)),
    ...validateUnique(ips, field),
    ...validateFamilies(ips, field),
  ];
}

/** More than one address means one of each family. The text shows them in Go's spelling. */
function validateFamilies(ips: readonly string[], field: string): readonly FieldError[] {
  if (ips.length < 2 || ips.some((ip) => familyOf(ip) === undefined)) return [];
  if (ips.length === 2 && new Set(ips.map(familyOf)).size === 2) return [];
  const shown = ips.map((ip) => ({ IP: ip }));
  return [invalid(field, shown, 'may specify no more than one IP for each IP family')];
}

function validateUnique(ips: readonly string[], field: string): readonly FieldError[] {
  return ips.flatMap((ip, index) =>
    ips.indexOf(ip) === index ? [] : [duplicate(`${field}[${index}]`, ip)],
  );
}
