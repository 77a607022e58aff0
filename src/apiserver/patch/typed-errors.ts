// Where an applied configuration does not fit its schema, in the words of structured-merge-diff. Unlike a decoder
// it refuses unknown fields and items that cannot be told apart.
import type { ListNode, MapNode, ScalarNode, Schema, StructNode } from '../../schema/node.ts';
import { goText } from './go-text.ts';
import { type Fields, isFields } from './json-value.ts';
import {
  elementText,
  fieldElement,
  isAssociative,
  itemElement,
  itemElementError,
} from './path-element.ts';

/** One line for each error; several under a heading. Empty when all fits. */
export function typedErrors(schema: StructNode, object: unknown): string {
  const errors = errorsOf(schema, object, '');
  return errors.length <= 1
    ? (errors[0] ?? '')
    : ['errors:', ...errors.map((e) => `  ${e}`)].join('\n');
}

function errorsOf(schema: Schema, value: unknown, path: string): readonly string[] {
  if (value === null || value === undefined) return [];
  if (schema.node === 'scalar') return at(path, scalarError(schema, value));
  if (schema.node === 'list') {
    return Array.isArray(value)
      ? listErrors(schema, value, path)
      : at(path, `expected list, got ${shown(value)}`);
  }
  return isFields(value)
    ? mapErrors(schema, value, path)
    : at(path, `expected map, got ${shown(value)}`);
}

const at = (path: string, error: string | undefined): readonly string[] =>
  error === undefined ? [] : [path === '' ? error : `${path}: ${error}`];

/** Go prints the wrapper that the value is in. */
const shown = (value: unknown): string => `&{${goText(value)}}`;

function mapErrors(schema: MapNode | StructNode, object: Fields, path: string): readonly string[] {
  return Object.keys(object).flatMap((key) => {
    const below = path + elementText(fieldElement(key));
    if (schema.node === 'map') return errorsOf(schema.values, object[key], below);
    const node = Object.hasOwn(schema.fields, key) ? schema.fields[key] : undefined;
    return node === undefined
      ? at(below, 'field not declared in schema')
      : errorsOf(node, object[key], below);
  });
}

function listErrors(schema: ListNode, list: readonly unknown[], path: string): readonly string[] {
  const seen = new Set<string>();
  const errors: string[] = [];
  for (const [index, item] of list.entries()) {
    let element = `i:${index}`;
    if (isAssociative(schema)) {
      const error = itemElementError(schema, item);
      // Without an element nothing below can be named.
      if (error !== undefined) return [...errors, ...at(path, `element ${index}: ${error}`)];
      element = itemElement(schema, item);
      if (seen.has(element))
        errors.push(...at(path, `duplicate entries for key ${elementText(element)}`));
      seen.add(element);
    }
    errors.push(...errorsOf(schema.items, item, path + elementText(element)));
  }
  return errors;
}

function scalarError({ type }: ScalarNode, value: unknown): string | undefined {
  switch (type) {
    case 'int32':
    case 'int64':
    case 'double':
      return typeof value === 'number'
        ? undefined
        : `expected numeric (int or float), got ${goTypeOf(value)}`;
    case 'string':
    case 'bytes':
      return typeof value === 'string' ? undefined : `expected string, got ${shown(value)}`;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected boolean, got ${shown(value)}`;
    case 'any':
      return undefined;
    default:
      return typeof value === 'object' ? `expected any scalar, got ${shown(value)}` : undefined;
  }
}

function goTypeOf(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}';
  return typeof value === 'object'
    ? 'map[string]interface {}'
    : typeof value === 'boolean'
      ? 'bool'
      : 'string';
}
