// The status of a pod.

import { familyOf } from '../../ip/address.ts';
import { type FieldError, forbidden, invalid } from '../../meta/field-error.ts';
import { dns1123Subdomain, qualifiedName } from '../../meta/names.ts';
import { validateIPLegacy } from '../../meta/validate-ip.ts';
import { immutableField } from '../immutable-field.ts';
import type { Container } from './container.ts';
import { invalidEach } from './field-rules.ts';
import type { PodCondition } from './pod-status.ts';
import type { Pod } from './types.ts';
import { validatePodAnnotationsUpdate } from './validate-annotations.ts';
import { validateClaimStatuses } from './validate-claim-statuses.ts';
import { validateContainerStatuses } from './validate-container-statuses.ts';

const ownConditions = new Set(['PodScheduled', 'Ready', 'Initialized']);

/** In upstream's order. */
export function validatePodStatusUpdate(before: Pod, after: Pod): readonly FieldError[] {
  const { status } = after;
  return [
    ...validatePodAnnotationsUpdate(before, after),
    ...(status.conditions ?? []).flatMap((condition, index) =>
      validateCondition(condition, `status.conditions[${index}]`),
    ),
    ...validateNomination(before, after),
    ...validateGeneration(status.observedGeneration, 'status.observedGeneration'),
    ...immutableField({
      field: 'status.qosClass',
      before: before.status.qosClass ?? '',
      after: status.qosClass ?? '',
    }),
    ...validateRestarts(before, after, 'containerStatuses', before.spec.containers ?? []),
    ...validateRestarts(before, after, 'initContainerStatuses', before.spec.initContainers ?? []),
    ...validateRestarts(before, after, 'ephemeralContainerStatuses', []),
    ...validateClaimStatuses(after),
    ...validatePodIPs(before, after),
    ...validateHostIPs(before, after),
    ...validateContainerStatuses(after),
  ];
}

function validateCondition(
  { type, observedGeneration }: PodCondition,
  field: string,
): readonly FieldError[] {
  return [
    ...validateGeneration(observedGeneration, `${field}.observedGeneration`),
    ...(ownConditions.has(type) ? [] : invalidEach(`${field}.Type`, type, qualifiedName(type))),
  ];
}

function validateGeneration(generation: number | undefined, field: string): readonly FieldError[] {
  return (generation ?? 0) < 0
    ? [invalid(field, generation, 'must be a non-negative integer')]
    : [];
}

/** Unchanged parts are not validated again. */
function validateNomination(before: Pod, after: Pod): readonly FieldError[] {
  const field = 'status.nominatedNodeName';
  const { nominatedNodeName: name = '' } = after.status;
  if (name === '' || name === before.status.nominatedNodeName) return [];
  return [
    ...invalidEach(field, name, dns1123Subdomain(name)),
    ...(before.spec.nodeName
      ? [forbidden(field, 'may not be set on pods that are already bound to a node')]
      : []),
  ];
}

type StatusList = 'containerStatuses' | 'initContainerStatuses' | 'ephemeralContainerStatuses';

/** A container that is not restarted must stay terminated. The index is that of the previous status. */
function validateRestarts(
  before: Pod,
  after: Pod,
  list: StatusList,
  containers: readonly Container[],
): readonly FieldError[] {
  const now = after.status[list] ?? [];
  return (before.status[list] ?? []).flatMap((was, index) => {
    if (was.state.terminated === undefined) return [];
    const isBack = now.some(({ name, state }) => name === was.name && !state.terminated);
    const container = containers.find(({ name }) => name === was.name);
    const mayRestart =
      container !== undefined &&
      restartsAfter(container, before.spec.restartPolicy, was.state.terminated.exitCode);
    if (!isBack || mayRestart) return [];
    const detail = 'may not be transitioned to non-terminated state';
    return [forbidden(`status.${list}[${index}].state`, detail)];
  });
}

/** The first matching rule of the container, then its restartPolicy, then the pod's. */
function restartsAfter(container: Container, ofPod: string | undefined, exitCode: number): boolean {
  const { restartPolicy, restartPolicyRules = [] } = container;
  if (restartPolicy !== undefined) {
    const rule = restartPolicyRules.find(({ exitCodes }) => {
      const isListed = (exitCodes?.values ?? []).includes(exitCode);
      return exitCodes?.operator === 'In' ? isListed : exitCodes?.operator === 'NotIn' && !isListed;
    });
    if (rule?.action === 'Restart') return true;
  }
  switch (restartPolicy ?? ofPod) {
    case 'Never':
      return false;
    case 'OnFailure':
      return exitCode !== 0;
    default:
      return true;
  }
}

function validatePodIPs(before: Pod, after: Pod): readonly FieldError[] {
  const field = 'status.podIPs';
  const ips = (after.status.podIPs ?? []).map(({ ip }) => ip);
  const known = (before.status.podIPs ?? []).map(({ ip }) => ip);
  return [
    ...ips.flatMap((ip, index) => validateIPLegacy(`${field}[${index}]`, ip, known)),
    ...validateFamilies(ips, field),
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
    ...validateFamilies(ips, field),
  ];
}

/** At most one address of each family. Messages show them in Go's syntax. */
function validateFamilies(ips: readonly string[], field: string): readonly FieldError[] {
  if (ips.length < 2 || ips.some((ip) => familyOf(ip) === undefined)) return [];
  if (ips.length === 2 && new Set(ips.map(familyOf)).size === 2) return [];
  const shown = ips.map((ip) => ({ IP: ip }));
  return [invalid(field, shown, 'may specify no more than one IP for each IP family')];
}
