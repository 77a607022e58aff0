// Validation of priority classes. Upstream: pkg/apis/scheduling/validation.
import { type FieldError, forbidden, joined } from '../../meta/field-error.ts';
import { immutableField } from '../immutable-field.ts';
import { validateOptionalChoice } from '../pod/field-rules.ts';
import { systemClasses, systemPrefix } from './system-classes.ts';
import type { PriorityClass } from './types.ts';

/** Above are the classes of the system. */
const maxUserPriority = 1_000_000_000;

export function validatePriorityClass(object: PriorityClass): readonly FieldError[] {
  const { metadata, value, preemptionPolicy } = object;
  const isSystem = (metadata.name ?? '').startsWith(systemPrefix);
  const why = isSystem ? systemProblem(object) : undefined;
  return joined([
    why === undefined
      ? []
      : [
          forbidden(
            'metadata.name',
            `priority class names with '${systemPrefix}' prefix are reserved for system use only. error: ${why}`,
          ),
        ],
    !isSystem && value > maxUserPriority
      ? [
          forbidden(
            'value',
            `maximum allowed value of a user defined priority is ${maxUserPriority}`,
          ),
        ]
      : [],
    validateOptionalChoice('preemptionPolicy', preemptionPolicy, ['PreemptLowerPriority', 'Never']),
  ]);
}

function systemProblem({ metadata, value, globalDefault }: PriorityClass): string | undefined {
  const { name = '' } = metadata;
  const known = systemClasses.find((one) => one.name === name);
  if (known === undefined) return `${name} is not a known system priority class`;
  if (known.value !== value) return `value of ${name} PriorityClass must be ${known.value}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

export function validatePriorityClassUpdate(
  before: PriorityClass,
  after: PriorityClass,
): readonly FieldError[] {
  return [
    ...(before.value === after.value
      ? []
      : [forbidden('value', 'may not be changed in an update.')]),
    ...immutableField({
      field: 'preemptionPolicy',
      before: before.preemptionPolicy,
      after: after.preemptionPolicy,
    }),
  ];
}
