import { type FieldError, invalid } from '../meta/field-error.ts';
import { deepEqual } from '../schema/equality.ts';

/** The error of an immutable field; `shown` is the new value in the message, where it differs. */
export function immutableField(change: {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly shown?: unknown;
}): readonly FieldError[] {
  const { field, before, after, shown = after } = change;
  return deepEqual(before, after) ? [] : [invalid(field, shown, 'field is immutable')];
}
