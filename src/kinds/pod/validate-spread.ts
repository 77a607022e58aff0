// Topology spread constraints.
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../meta/field-error.ts';
import { validateLabelName, validateLabelSelector } from '../../meta/labels.ts';
import type { TopologySpreadConstraint } from './affinity.ts';

const actions = ['DoNotSchedule', 'ScheduleAnyway'];
const policies = ['Honor', 'Ignore'];

export function validateSpread(
  constraints: readonly TopologySpreadConstraint[],
  field: string,
): readonly FieldError[] {
  const pairs = constraints.map(
    ({ topologyKey, whenUnsatisfiable }) => `{${topologyKey}, ${whenUnsatisfiable}}`,
  );
  // The last of each pair is reported, as upstream.
  const last = new Map(pairs.map((pair, index) => [pair, index]));
  return constraints.flatMap((constraint, index) => {
    const pair = pairs[index] ?? '';
    const isRepeated = (last.get(pair) ?? index) > index;
    return validateConstraint(constraint, `${field}[${index}]`, isRepeated ? pair : undefined);
  });
}

function validateConstraint(
  constraint: TopologySpreadConstraint,
  field: string,
  repeated: string | undefined,
): readonly FieldError[] {
  const { maxSkew, topologyKey, whenUnsatisfiable, labelSelector } = constraint;
  return [
    ...(maxSkew > 0 ? [] : [invalid(`${field}.maxSkew`, maxSkew, 'must be greater than zero')]),
    ...(topologyKey === '' ? [required(`${field}.topologyKey`, 'can not be empty')] : []),
    ...(actions.includes(whenUnsatisfiable)
      ? []
      : [notSupported(`${field}.whenUnsatisfiable`, whenUnsatisfiable, actions)]),
    ...(repeated === undefined
      ? []
      : [duplicate(`${field}.{topologyKey, whenUnsatisfiable}`, repeated)]),
    ...validateMinDomains(constraint, `${field}.minDomains`),
    ...validatePolicy(constraint.nodeAffinityPolicy, `${field}.nodeAffinityPolicy`),
    ...validatePolicy(constraint.nodeTaintsPolicy, `${field}.nodeTaintsPolicy`),
    ...validateLabelKeys(constraint, `${field}.matchLabelKeys`),
    ...(labelSelector === undefined
      ? []
      : validateLabelSelector(labelSelector, `${field}.labelSelector`)),
  ];
}

function validateMinDomains(
  { minDomains, whenUnsatisfiable }: TopologySpreadConstraint,
  field: string,
): readonly FieldError[] {
  if (minDomains === undefined) return [];
  const detail = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
  return [
    ...(minDomains > 0 ? [] : [invalid(field, minDomains, 'must be greater than zero')]),
    ...(whenUnsatisfiable === 'DoNotSchedule' ? [] : [invalid(field, minDomains, detail)]),
  ];
}

function validatePolicy(policy: string | undefined, field: string): readonly FieldError[] {
  return policy === undefined || policies.includes(policy)
    ? []
    : [notSupported(field, policy, policies)];
}

/** Keys whose values come from the pod's labels, and which the selector must not contain. */
function validateLabelKeys(
  { matchLabelKeys = [], labelSelector }: TopologySpreadConstraint,
  field: string,
): readonly FieldError[] {
  if (matchLabelKeys.length === 0) return [];
  const { matchLabels = {}, matchExpressions = [] } = labelSelector ?? {};
  const named = new Set([...Object.keys(matchLabels), ...matchExpressions.map(({ key }) => key)]);
  return [
    ...(labelSelector === undefined
      ? [forbidden(field, 'must not be specified when labelSelector is not set')]
      : []),
    ...matchLabelKeys.flatMap((key, index) => [
      ...validateLabelName(key, `${field}[${index}]`),
      ...(named.has(key)
        ? [invalid(`${field}[${index}]`, key, 'exists in both matchLabelKeys and labelSelector')]
        : []),
    ]),
  ];
}
