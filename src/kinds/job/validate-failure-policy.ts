import {
  duplicate,
  type FieldError,
  invalid,
  joined,
  notSupported,
  required,
  tooMany,
} from '../../meta/field-error.ts';
import { validateLabelName } from '../../meta/labels.ts';
import type { ExitCodePattern, JobSpec, PodFailurePolicy, PodFailureRule } from './types.ts';

/** Upstream's limits: each pod that has failed is compared with all of them. */
const maxRules = 20;
const maxConditions = 20;
const maxExitCodes = 255;

const actions: readonly string[] = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const operators: readonly string[] = ['In', 'NotIn'];
const statuses: readonly string[] = ['False', 'True', 'Unknown'];

export function validatePodFailurePolicy(
  spec: JobSpec,
  policy: PodFailurePolicy,
  field: string,
): readonly FieldError[] {
  const rules = policy.rules ?? [];
  const { containers, initContainers = [] } = spec.template.spec;
  const names = new Set([...(containers ?? []), ...initContainers].map(({ name }) => name));
  return joined([
    rules.length > maxRules ? [tooMany(`${field}.rules`, rules.length, maxRules)] : [],
    ...rules.map((rule, index) => validateRule(spec, rule, names, `${field}.rules[${index}]`)),
  ]);
}

function validateRule(
  spec: JobSpec,
  rule: PodFailureRule,
  names: ReadonlySet<string>,
  field: string,
): readonly FieldError[] {
  const { onExitCodes, onPodConditions = [] } = rule;
  return [
    ...validateAction(spec, rule.action, `${field}.action`),
    ...(onExitCodes === undefined
      ? []
      : validateExitCodes(onExitCodes, names, `${field}.onExitCodes`)),
    ...validatePodConditions(onPodConditions, `${field}.onPodConditions`),
    ...(onExitCodes !== undefined && onPodConditions.length > 0
      ? [withoutValue(field, 'specifying both OnExitCodes and OnPodConditions is not supported')]
      : []),
    ...(onExitCodes === undefined && onPodConditions.length === 0
      ? [withoutValue(field, 'specifying one of OnExitCodes and OnPodConditions is required')]
      : []),
  ];
}

/** Upstream leaves the value out where it is a struct that says nothing. */
export function withoutValue(field: string, detail: string): FieldError {
  return { reason: 'FieldValueInvalid', field, body: 'Invalid value', detail };
}

function validateAction(spec: JobSpec, action: string, field: string): readonly FieldError[] {
  if (action === '') return [required(field, validValues(actions))];
  if (action === 'FailIndex')
    return spec.backoffLimitPerIndex === undefined
      ? [invalid(field, action, 'requires the backoffLimitPerIndex to be set')]
      : [];
  return actions.includes(action) ? [] : [notSupported(field, action, actions)];
}

/** As Go prints a list of quoted strings. */
const validValues = (values: readonly string[]): string =>
  `valid values: [${values.map((value) => `"${value}"`).join(' ')}]`;

function validatePodConditions(
  patterns: PodFailureRule['onPodConditions'] & object,
  field: string,
): readonly FieldError[] {
  return joined([
    patterns.length > maxConditions ? [tooMany(field, patterns.length, maxConditions)] : [],
    ...patterns.map(({ type, status }, index) => [
      ...validateLabelName(type, `${field}[${index}].type`),
      ...validateOneOf(status, statuses, `${field}[${index}].status`),
    ]),
  ]);
}

function validateOneOf(
  value: string,
  choices: readonly string[],
  field: string,
): readonly FieldError[] {
  if (value === '') return [required(field, validValues(choices))];
  return choices.includes(value) ? [] : [notSupported(field, value, choices)];
}

function validateExitCodes(
  { operator, containerName, values: given }: ExitCodePattern,
  names: ReadonlySet<string>,
  field: string,
): readonly FieldError[] {
  const values = given ?? [];
  const at = `${field}.values`;
  const isOrdered = values.every(
    (value, index) => index === 0 || (values[index - 1] ?? 0) <= value,
  );
  return joined([
    validateOneOf(operator, operators, `${field}.operator`),
    containerName === undefined || names.has(containerName)
      ? []
      : [
          invalid(
            `${field}.containerName`,
            containerName,
            'must be one of the container or initContainer names in the pod template',
          ),
        ],
    values.length === 0 ? [invalid(at, values, 'at least one value is required')] : [],
    values.length > maxExitCodes ? [tooMany(at, values.length, maxExitCodes)] : [],
    ...validateEachCode(values, operator, at),
    isOrdered ? [] : [invalid(at, values, 'must be ordered')],
  ]);
}

function validateEachCode(
  values: readonly number[],
  operator: string,
  field: string,
): readonly (readonly FieldError[])[] {
  const seen = new Set<number>();
  return values.map((value, index) => {
    const at = `${field}[${index}]`;
    const isRepeated = seen.has(value);
    seen.add(value);
    return [
      ...(operator === 'In' && value === 0
        ? [invalid(at, value, 'must not be 0 for the In operator')]
        : []),
      ...(isRepeated ? [duplicate(at, value)] : []),
    ];
  });
}
