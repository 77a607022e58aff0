// Affinity, tolerations and scheduling gates.
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../meta/field-error.ts';
import { validateLabelName, validateLabelSelector } from '../../meta/labels.ts';
import { dns1123Label, dns1123Subdomain, labelValue, qualifiedName } from '../../meta/names.ts';
import type {
  Affinity,
  NodeAffinity,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
  Toleration,
} from './affinity.ts';
import { invalidEach } from './field-rules.ts';
import type { PodSpec } from './pod-spec.ts';

export const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function validateAffinity(
  affinity: Affinity | undefined,
  field: string,
): readonly FieldError[] {
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity ?? {};
  return [
    ...(nodeAffinity === undefined
      ? []
      : validateNodeAffinity(nodeAffinity, `${field}.nodeAffinity`)),
    ...(podAffinity === undefined ? [] : validatePodAffinity(podAffinity, `${field}.podAffinity`)),
    ...(podAntiAffinity === undefined
      ? []
      : validatePodAffinity(podAntiAffinity, `${field}.podAntiAffinity`)),
  ];
}

function validateNodeAffinity(affinity: NodeAffinity, field: string): readonly FieldError[] {
  const requiredTerms = affinity.requiredDuringSchedulingIgnoredDuringExecution;
  const requiredAt = `${field}.requiredDuringSchedulingIgnoredDuringExecution`;
  const preferredAt = `${field}.preferredDuringSchedulingIgnoredDuringExecution`;
  return [
    ...(requiredTerms === undefined ? [] : validateNodeSelector(requiredTerms, requiredAt)),
    ...(affinity.preferredDuringSchedulingIgnoredDuringExecution ?? []).flatMap(
      (preferred, index) => [
        ...validateWeight(preferred.weight, `${preferredAt}[${index}].weight`),
        // Preferences with values that no label can have are harmless, and accepted.
        ...validateTerm(preferred.preference, `${preferredAt}[${index}].preference`, false),
      ],
    ),
  ];
}

/** Also for the nodes of volumes. */
export function validateNodeSelector(
  { nodeSelectorTerms }: NodeSelector,
  field: string,
): readonly FieldError[] {
  const at = `${field}.nodeSelectorTerms`;
  const terms = nodeSelectorTerms ?? [];
  return [
    ...(terms.length === 0 ? [required(at, 'must have at least one node selector term')] : []),
    ...terms.flatMap((term, index) => validateTerm(term, `${at}[${index}]`, true)),
  ];
}

function validateTerm(
  term: NodeSelectorTerm,
  field: string,
  judgesValues: boolean,
): readonly FieldError[] {
  return [
    ...(term.matchExpressions ?? []).flatMap((requirement, index) => {
      const at = `${field}.matchExpressions[${index}]`;
      return [
        ...validateRequirement(requirement, at),
        ...(judgesValues ? validateValues(requirement.values ?? [], at, labelValue) : []),
      ];
    }),
    ...(term.matchFields ?? []).flatMap((requirement, index) =>
      validateFieldRequirement(requirement, `${field}.matchFields[${index}]`),
    ),
  ];
}

function validateValues(
  values: readonly string[],
  field: string,
  rule: (value: string) => readonly string[],
): readonly FieldError[] {
  return values.flatMap((value, index) =>
    invalidEach(`${field}.values[${index}]`, value, rule(value)),
  );
}

function validateRequirement(
  { key, operator, values = [] }: NodeSelectorRequirement,
  field: string,
): readonly FieldError[] {
  const name = validateLabelName(key, `${field}.key`);
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0
        ? name
        : [
            required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'"),
            ...name,
          ];
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0
        ? name
        : [
            forbidden(
              `${field}.values`,
              "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            ),
            ...name,
          ];
    case 'Gt':
    case 'Lt':
      return values.length === 1
        ? name
        : [
            required(
              `${field}.values`,
              "must be specified single value when `operator` is 'Lt' or 'Gt'",
            ),
            ...name,
          ];
    default:
      return [invalid(`${field}.operator`, operator, 'not a valid selector operator'), ...name];
  }
}

function validateFieldRequirement(
  { key, operator, values = [] }: NodeSelectorRequirement,
  field: string,
): readonly FieldError[] {
  const judged =
    operator !== 'In' && operator !== 'NotIn'
      ? [invalid(`${field}.operator`, operator, 'not a valid selector operator')]
      : values.length === 1
        ? []
        : [
            required(
              `${field}.values`,
              "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
            ),
          ];
  return key === 'metadata.name'
    ? [...judged, ...validateValues(values, field, dns1123Subdomain)]
    : [...judged, invalid(`${field}.key`, key, 'not a valid field selector key')];
}

function validatePodAffinity(affinity: PodAffinity, field: string): readonly FieldError[] {
  const requiredAt = `${field}.requiredDuringSchedulingIgnoredDuringExecution`;
  const preferredAt = `${field}.preferredDuringSchedulingIgnoredDuringExecution`;
  return [
    ...(affinity.requiredDuringSchedulingIgnoredDuringExecution ?? []).flatMap((term, index) =>
      validatePodAffinityTerm(term, `${requiredAt}[${index}]`),
    ),
    ...(affinity.preferredDuringSchedulingIgnoredDuringExecution ?? []).flatMap(
      (preferred, index) => [
        ...validateWeight(preferred.weight, `${preferredAt}[${index}].weight`),
        ...validatePodAffinityTerm(
          preferred.podAffinityTerm,
          `${preferredAt}[${index}].podAffinityTerm`,
        ),
      ],
    ),
  ];
}

function validatePodAffinityTerm(term: PodAffinityTerm, field: string): readonly FieldError[] {
  const { labelSelector, namespaceSelector } = term;
  return [
    ...(labelSelector === undefined
      ? []
      : validateLabelSelector(labelSelector, `${field}.labelSelector`)),
    ...(namespaceSelector === undefined
      ? []
      : validateLabelSelector(namespaceSelector, `${field}.namespaceSelector`)),
    ...(term.namespaces ?? []).flatMap((name) =>
      invalidEach(`${field}.namespace`, name, dns1123Label(name)),
    ),
    ...validateLabelKeys(term, field),
    ...(term.topologyKey === '' ? [required(`${field}.topologyKey`, 'can not be empty')] : []),
    ...validateLabelName(term.topologyKey, `${field}.topologyKey`),
  ];
}

/** Keys whose values come from the pod's labels; a key must not be in both lists. */
function validateLabelKeys(term: PodAffinityTerm, field: string): readonly FieldError[] {
  const { matchLabelKeys = [], mismatchLabelKeys = [], labelSelector } = term;
  const judge = (keys: readonly string[], at: string): readonly FieldError[] => {
    if (keys.length === 0) return [];
    return labelSelector === undefined
      ? [forbidden(at, withoutSelector)]
      : keys.flatMap((key, index) => validateLabelName(key, `${at}[${index}]`));
  };
  const mismatched = new Set(mismatchLabelKeys);
  const both = 'exists in both matchLabelKeys and mismatchLabelKeys';
  return [
    ...judge(matchLabelKeys, `${field}.matchLabelKeys`),
    ...judge(mismatchLabelKeys, `${field}.mismatchLabelKeys`),
    ...matchLabelKeys.flatMap((key, index) =>
      mismatched.has(key) ? [invalid(`${field}.matchLabelKeys[${index}]`, key, both)] : [],
    ),
  ];
}

const withoutSelector = 'must not be specified when labelSelector is not set';

function validateWeight(weight: number, field: string): readonly FieldError[] {
  return weight >= 1 && weight <= 100 ? [] : [invalid(field, weight, 'must be in the range 1-100')];
}

export function validateTolerations(
  tolerations: readonly Toleration[],
  field: string,
): readonly FieldError[] {
  return tolerations.flatMap((toleration, index) =>
    validateToleration(toleration, `${field}[${index}]`),
  );
}

function validateToleration(toleration: Toleration, field: string): readonly FieldError[] {
  const { key = '', operator = '', effect = '', tolerationSeconds } = toleration;
  const everyKey =
    'operator must be Exists when `key` is empty, which means "match all values and all keys"';
  return [
    ...(key === '' ? [] : validateLabelName(key, `${field}.key`)),
    ...(key === '' && operator !== 'Exists'
      ? [invalid(`${field}.operator`, operator, everyKey)]
      : []),
    ...(tolerationSeconds !== undefined && effect !== 'NoExecute'
      ? [
          invalid(
            `${field}.effect`,
            effect,
            "effect must be 'NoExecute' when `tolerationSeconds` is set",
          ),
        ]
      : []),
    ...validateTolerationValue(toleration, field),
    ...(effect === '' || taintEffects.includes(effect)
      ? []
      : [notSupported(`${field}.effect`, effect, taintEffects)]),
  ];
}

function validateTolerationValue(
  { operator = '', value = '' }: Toleration,
  field: string,
): readonly FieldError[] {
  switch (operator) {
    case '':
    case 'Equal': {
      const wrong = labelValue(value);
      return wrong.length === 0 ? [] : [invalid(`${field}.operator`, value, wrong.join(';'))];
    }
    case 'Exists':
      return value === ''
        ? []
        : [invalid(`${field}.operator`, value, "value must be empty when `operator` is 'Exists'")];
    default:
      return [notSupported(`${field}.operator`, operator, ['Equal', 'Exists'])];
  }
}

export function validateGates(spec: PodSpec, field: string): readonly FieldError[] {
  const { readinessGates = [], schedulingGates = [] } = spec;
  const seen = new Set<string>();
  return [
    ...readinessGates.flatMap(({ conditionType }, index) =>
      invalidEach(
        `${field}.readinessGates[${index}].conditionType`,
        conditionType,
        qualifiedName(conditionType),
      ),
    ),
    ...schedulingGates.flatMap(({ name }, index) => {
      const repeated = seen.has(name);
      seen.add(name);
      const at = `${field}.schedulingGates[${index}]`;
      return [
        ...invalidEach(at, name, qualifiedName(name)),
        ...(repeated ? [duplicate(at, name)] : []),
      ];
    }),
  ];
}
