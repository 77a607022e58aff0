// What a strategic merge patch can do wrong, in the words of upstream's mergepatch package.

import { badRequest, failure } from '../../meta/api-error.ts';
import { goQuote } from '../../schema/go-quote.ts';
import { isJsonObject, type JsonObject } from '../../schema/json-object.ts';
import { goText } from './go-text.ts';

export const badPrimitiveList = (): Error => badRequest('invalid patch format of primitive list');
export const badRetainKeys = (): Error => badRequest('invalid patch format of retainKeys');
export const badElementOrder = (): Error =>
  badRequest('invalid patch format of setElementOrder list');

/** The one mistake whose text upstream hides. */
export function listOfLists(): Error {
  const message = 'the server rejected our request due to an error in our request';
  return failure({ code: 422, reason: 'Invalid', message, details: {} });
}

export const noMergeKey = (item: JsonObject, mergeKey: string): Error =>
  badRequest(`map: ${goText(item)} does not contain declared merge key: ${mergeKey}`);

export const unknownDirective = (directive: unknown, map: JsonObject): Error =>
  badRequest(`unknown patch type: ${goText(directive)} in map: ${goText(map)}`);

export const wrongType = (expected: string, value: unknown): Error =>
  badRequest(`expected a ${expected}, but received a ${goType(value)}`);

export const unknownField = (struct: string, field: string): Error =>
  badRequest(`unable to find api field in struct ${struct} for the json field ${goQuote(field)}`);

/** The Go type that a decoded JSON value has. */
function goType(value: unknown): string {
  if (value === null || value === undefined) return '%!s(<nil>)';
  if (Array.isArray(value)) return '[]interface {}';
  if (isJsonObject(value)) return 'map[string]interface {}';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  return Number.isInteger(value) ? 'int64' : 'float64';
}
