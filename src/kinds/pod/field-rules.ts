// Validation rules that several parts of a pod share.
import { type FieldError, invalid, notSupported, required } from '../../meta/field-error.ts';
import { dns1123Label } from '../../meta/names.ts';

/** One error for each message of the rule. */
export function invalidEach(
  field: string,
  value: unknown,
  messages: readonly string[],
): readonly FieldError[] {
  return messages.map((message) => invalid(field, value, message));
}

export function validateDnsLabel(field: string, name: string): readonly FieldError[] {
  return name === '' ? [required(field)] : invalidEach(field, name, dns1123Label(name));
}

export function validateFilled(field: string, value: string | undefined): readonly FieldError[] {
  return value ? [] : [required(field)];
}

export function validateNotNegative(field: string, value = 0): readonly FieldError[] {
  return value < 0 ? [invalid(field, value, 'must be greater than or equal to 0')] : [];
}

export function validateChoice(
  field: string,
  value: string | undefined,
  choices: readonly string[],
): readonly FieldError[] {
  if (!value) return [required(field)];
  return choices.includes(value) ? [] : [notSupported(field, value, choices)];
}

/** As validateChoice(), for optional fields. */
export function validateOptionalChoice(
  field: string,
  value: string | undefined,
  choices: readonly string[],
): readonly FieldError[] {
  return value === undefined ? [] : validateChoice(field, value, choices);
}

const largestId = 2 ** 31 - 1;

/** User and group IDs. */
export function validateId(field: string, id: number | undefined): readonly FieldError[] {
  if (id === undefined || (id >= 0 && id <= largestId)) return [];
  return [invalid(field, id, `must be between 0 and ${largestId}, inclusive`)];
}
