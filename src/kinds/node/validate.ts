import { parseCidrSloppy } from '../../ip/cidr.ts';
import { repeatedIndexes } from '../../meta/contains.ts';
import {
  duplicate,
  type FieldError,
  forbidden,
  internalError,
  invalid,
  notSupported,
  required,
} from '../../meta/field-error.ts';
import { validateLabelName } from '../../meta/labels.ts';
import { labelValue } from '../../meta/names.ts';
import { validateCIDR } from '../../meta/validate-ip.ts';
import { deepEqual } from '../../schema/equality.ts';
import { validateQuantity } from '../pod/validate-resources.ts';
import { taintEffects } from '../pod/validate-scheduling.ts';
import type { Node, Taint } from './types.ts';

// The path that Kubernetes uses in errors of spec.taints.
const taintsField = 'metadata.taints';

export function validateNode(
  node: Node,
  ofQuantities = validateQuantities(node),
): readonly FieldError[] {
  return [
    ...validateTaints(node.spec.taints ?? []),
    ...ofQuantities,
    ...validatePodCIDRs(node.spec.podCIDRs ?? []),
  ];
}

export function validateNodeUpdate(before: Node, after: Node): readonly FieldError[] {
  // Used twice, computed once: a node may have thousands.
  const ofQuantities = validateQuantities(after);
  return [...validateNode(after, ofQuantities), ...validateNodeChange(before, after, ofQuantities)];
}

/** Rules for updates of nodes and of their status. */
export function validateNodeChange(
  before: Node,
  after: Node,
  ofQuantities = validateQuantities(after),
): readonly FieldError[] {
  const { podCIDRs: oldCIDRs = [], providerID: oldID = '' } = before.spec;
  const { podCIDRs = [], providerID = '' } = after.spec;
  const addresses = (after.status.addresses ?? []).map(({ type, address }) => `${type} ${address}`);
  const repeated = repeatedIndexes(addresses);
  return [
    ...ofQuantities,
    ...(after.status.addresses ?? []).flatMap((address, index) =>
      !repeated.has(index)
        ? []
        : [
            duplicate(`status.addresses[${index}]`, {
              Type: address.type,
              Address: address.address,
            }),
          ],
    ),
    ...(oldCIDRs.length > 0 && !deepEqual(oldCIDRs, podCIDRs)
      ? [unchangeable('podCIDRs', 'podCIDR')]
      : []),
    ...(oldID !== '' && oldID !== providerID ? [unchangeable('providerID', 'providerID')] : []),
    ...validateTaints(after.spec.taints ?? []),
  ];
}

function unchangeable(field: string, shown: string): FieldError {
  return forbidden(`spec.${field}`, `node updates may not change ${shown} except from "" to valid`);
}

function validateTaints(taints: readonly Taint[]): readonly FieldError[] {
  const seen = new Set<string>();
  return taints.flatMap((taint, index) => {
    const at = `${taintsField}[${index}]`;
    const wrong = labelValue(taint.value ?? '');
    const pair = `${taint.effect} ${taint.key}`;
    const repeated = seen.has(pair);
    seen.add(pair);
    return [
      ...validateLabelName(taint.key, `${at}.key`),
      ...(wrong.length === 0 ? [] : [invalid(`${at}.value`, taint.value, wrong.join(';'))]),
      ...validateEffect(taint.effect, `${at}.effect`),
      ...(repeated ? [repeatedTaint(taint, at)] : []),
    ];
  });
}

function validateEffect(effect: string, field: string): readonly FieldError[] {
  if (effect === '') return [required(field)];
  return taintEffects.includes(effect) ? [] : [notSupported(field, effect, taintEffects)];
}

/** Messages show the taint in Go's syntax. */
function repeatedTaint({ key, value = '', effect, timeAdded }: Taint, field: string): FieldError {
  const shown = { Key: key, Value: value, Effect: effect, TimeAdded: timeAdded ?? null };
  return { ...duplicate(field, shown), detail: 'taints must be unique by key and effect pair' };
}

function validateQuantities({ status }: Node): readonly FieldError[] {
  return (['capacity', 'allocatable'] as const).flatMap((list) =>
    Object.entries(status[list] ?? {}).flatMap(([name, quantity]) =>
      validateQuantity(name, quantity, `status.${list}.${name}`),
    ),
  );
}

function validatePodCIDRs(cidrs: readonly string[]): readonly FieldError[] {
  const field = 'spec.podCIDRs';
  const wrong = cidrs.flatMap((cidr, index) => validateCIDR(`${field}[${index}]`, cidr));
  if (cidrs.length < 2) return wrong;
  const ranges = cidrs.map(parseCidrSloppy);
  const unread = ranges.indexOf(undefined);
  const families = new Set(ranges.map((range) => range?.family));
  const isDualStack = unread < 0 && cidrs.length === 2 && families.size === 2;
  const repeated = repeatedIndexes(cidrs);
  return [
    ...wrong,
    ...(unread < 0 ? [] : [unreadRange(field, unread, cidrs[unread] ?? '')]),
    ...(isDualStack
      ? []
      : [invalid(field, cidrs, 'may specify no more than one CIDR for each IP family')]),
    ...[...repeated].map((index) => duplicate(`${field}[${index}]`, cidrs[index])),
  ];
}

/** Kubernetes also adds the error of its own parser. */
function unreadRange(field: string, index: number, cidr: string): FieldError {
  const detail = `invalid CIDR[${index}]: <nil> (invalid CIDR address: ${cidr})`;
  return internalError(
    field,
    `invalid PodCIDRs. failed to check with dual stack with error:${detail}`,
  );
}
