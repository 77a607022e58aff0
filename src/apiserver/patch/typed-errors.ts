// Where an applied configuration does not match its schema, worded as by structured-merge-diff. Unlike a decoder
// it refuses unknown fields and ambiguous items.

import { isJsonObject, type JsonObject } from '../../schema/json-object.ts';
import type { ListNode, MapNode, ScalarNode, Schema, StructNode } from '../../schema/node.ts';
import { spendSteps } from '../../schema/work-budget.ts';
import { goText } from './go-text.ts';
import {
  elementText,
  fieldElement,
  isAssociative,
  itemElement,
  itemElementError,
} from './path-element.ts';

/** One line for each error; several under a heading. Empty when all fits. */
export function typedErrors(schema: StructNode, object: unknown): string {
  const walk: Walk = { path: [], errors: [] };
  visit(walk, schema, object);
  const { errors } = walk;
  return errors.length <= 1
    ? (errors[0] ?? '')
    : ['errors:', ...errors.map((e) => `  ${e}`)].join('\n');
}

type Walk = {
  /** Elements from the outside in; they become a text where something is wrong, which is hardly ever. */
  readonly path: string[];
  readonly errors: string[];
};

function visit(walk: Walk, schema: Schema, value: unknown): void {
  if (value === null || value === undefined) return;
  if (schema.node === 'scalar') note(walk, scalarError(schema, value));
  else if (schema.node === 'list') {
    if (Array.isArray(value)) visitItems(walk, schema, value);
    else note(walk, `expected list, got ${shown(value)}`);
  } else if (isJsonObject(value)) visitFields(walk, schema, value);
  else note(walk, `expected map, got ${shown(value)}`);
}

function note({ path, errors }: Walk, error: string | undefined): void {
  if (error === undefined) return;
  spendSteps(path.length);
  const fieldPath = path.map(elementText).join('');
  errors.push(fieldPath === '' ? error : `${fieldPath}: ${error}`);
}

/** Go prints the wrapper that the value is in. */
const shown = (value: unknown): string => `&{${goText(value)}}`;

function visitFields(walk: Walk, schema: MapNode | StructNode, object: JsonObject): void {
  for (const key of Object.keys(object)) {
    walk.path.push(fieldElement(key));
    if (schema.node === 'map') visit(walk, schema.values, object[key]);
    else {
      const node = Object.hasOwn(schema.fields, key) ? schema.fields[key] : undefined;
      if (node === undefined) note(walk, 'field not declared in schema');
      else visit(walk, node, object[key]);
    }
    walk.path.pop();
  }
}

function visitItems(walk: Walk, schema: ListNode, list: readonly unknown[]): void {
  const seen = new Set<string>();
  for (const [index, item] of list.entries()) {
    let element = `i:${index}`;
    if (isAssociative(schema)) {
      const error = itemElementError(schema, item);
      if (error !== undefined) {
        // Without an element nothing below can be named.
        note(walk, `element ${index}: ${error}`);
        return;
      }
      element = itemElement(schema, item);
      if (seen.has(element)) note(walk, `duplicate entries for key ${elementText(element)}`);
      seen.add(element);
    }
    walk.path.push(element);
    visit(walk, schema.items, item);
    walk.path.pop();
  }
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
