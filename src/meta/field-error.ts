// An error of one field. Validation returns lists of these; it never throws and never stops at the first.
import { goJson } from '../schema/go-json.ts';
import { goQuote } from '../schema/go-quote.ts';
import { cutText } from './cut-text.ts';

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
  /** The message before the detail, with the value where the reason shows it: `Invalid value: "x"`. */
  readonly body: string;
  readonly detail: string;
};

/** Concatenates results of several checks; nearly always all are empty, and nothing is copied. */
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
  return {
    reason: 'FieldValueNotSupported',
    field,
    body: `Unsupported value: ${goValue(value)}`,
    detail: supported.length === 0 ? '' : supportedText(supported),
  };
}

/** Cached by list: ten thousand items may have the same error. */
const supportedTexts = new WeakMap<readonly string[], string>();

function supportedText(supported: readonly string[]): string {
  let text = supportedTexts.get(supported);
  if (text === undefined) {
    text = `supported values: ${supported.map(goQuote).join(', ')}`;
    supportedTexts.set(supported, text);
  }
  return text;
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

export function internalError(field: string, detail: string): FieldError {
  return { reason: 'InternalError', field, body: 'Internal error', detail };
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

/** `body: detail`, the message of a cause. */
export function errorBody(error: FieldError): string {
  return error.detail === '' ? error.body : `${error.body}: ${error.detail}`;
}

export function errorText(error: FieldError): string {
  return `${error.field}: ${errorBody(error)}`;
}

/** A list with many invalid items is shown with each of them, and may be as large as a body. */
const shownTexts = new WeakMap<object, string>();

/** Texts are quoted as in Go, other values are Go's JSON; an absent value is null. */
function goValue(value: unknown): string {
  if (value === undefined) return 'null';
  // Cut before it is escaped: it may be as large as a body, and be shown a thousand times.
  if (typeof value === 'string') return goQuote(cutText(value));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  let text = shownTexts.get(value);
  if (text === undefined) {
    text = cutText(goJson(value));
    shownTexts.set(value, text);
  }
  return text;
}
