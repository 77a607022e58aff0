// What is wrong with one field. Validation returns lists of these; it never throws and never stops at the first.

export type FieldErrorReason =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueDuplicate'
  | 'FieldValueForbidden'
  | 'FieldValueNotFound'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'InternalError';

export type FieldError = {
  readonly reason: FieldErrorReason;
  /** Dotted path as Kubernetes writes it: `spec.ports[0].port`. */
  readonly field: string;
  /** The words before the detail, with the value where the reason shows it: `Invalid value: "x"`. */
  readonly body: string;
  readonly detail: string;
};

/** What several checks found, in their order; nearly always that is nothing, and nothing is copied. */
export function joined<T>(checks: readonly (readonly T[])[]): readonly T[] {
  let only: readonly T[] = [];
  let several: T[] | undefined;
  for (const found of checks) {
    if (found.length === 0) continue;
    if (only.length === 0) only = found;
    else {
      several ??= [...only];
      for (const one of found) several.push(one);
    }
  }
  return several ?? only;
}

export function required(field: string, detail = ''): FieldError {
  return { reason: 'FieldValueRequired', field, body: 'Required value', detail };
}

export function invalid(field: string, value: unknown, detail: string): FieldError {
  return { reason: 'FieldValueInvalid', field, body: `Invalid value: ${goValue(value)}`, detail };
}

export function notSupported(
  field: string,
  value: unknown,
  supported: readonly string[],
): FieldError {
  const detail =
    supported.length === 0
      ? ''
      : `supported values: ${supported.map((v) => JSON.stringify(v)).join(', ')}`;
  return {
    reason: 'FieldValueNotSupported',
    field,
    body: `Unsupported value: ${goValue(value)}`,
    detail,
  };
}

export function duplicate(field: string, value: unknown): FieldError {
  return {
    reason: 'FieldValueDuplicate',
    field,
    body: `Duplicate value: ${goValue(value)}`,
    detail: '',
  };
}

export function forbidden(field: string, detail: string): FieldError {
  return { reason: 'FieldValueForbidden', field, body: 'Forbidden', detail };
}

export function notFoundValue(field: string, value: unknown): FieldError {
  return { reason: 'FieldValueNotFound', field, body: `Not found: ${goValue(value)}`, detail: '' };
}

export function tooLong(field: string, limit: number): FieldError {
  const detail = limit < 0 ? 'value is too long' : `may not be more than ${limit} bytes`;
  return { reason: 'FieldValueTooLong', field, body: 'Too long', detail };
}

export function tooMany(field: string, count: number, limit: number): FieldError {
  const detail =
    limit < 0 ? 'has too many items' : `must have at most ${limit} item${limit === 1 ? '' : 's'}`;
  return { reason: 'FieldValueTooMany', field, body: `Too many: ${count}`, detail };
}

/** `body: detail`, what a cause carries as its message. */
export function errorBody(error: FieldError): string {
  return error.detail === '' ? error.body : `${error.body}: ${error.detail}`;
}

export function errorText(error: FieldError): string {
  return `${error.field}: ${errorBody(error)}`;
}

/** Values are shown as JSON; an absent value as null. */
function goValue(value: unknown): string {
  return value === undefined ? 'null' : JSON.stringify(value);
}
