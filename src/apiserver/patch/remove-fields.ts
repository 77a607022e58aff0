// An object without the fields of a set, and the other way round which fields a removal has to name.

import { isJsonObject, type JsonObject } from '../../schema/json-object.ts';
import type { ListNode, MapNode, Schema, StructNode } from '../../schema/node.ts';
import { asMember, type FieldSet, isMemberNode } from './fieldset.ts';
import { setField } from './json-value.ts';
import { fieldElement, itemElement } from './path-element.ts';
import { isAtomic, isBare, schemaOf } from './typed-value.ts';

/** What loses all it had reads null afterwards. */
export function removeFields(schema: Schema, value: unknown, set: FieldSet): unknown {
  if (schema.node === 'scalar') return value;
  if (isAtomic(schema) || isBare(value)) return null;
  if (schema.node === 'list') return Array.isArray(value) ? removeItems(schema, value, set) : null;
  return isJsonObject(value) ? removeKeys(schema, value, set) : null;
}

function removeKeys(
  schema: MapNode | StructNode,
  object: JsonObject,
  set: FieldSet,
): JsonObject | null {
  const rest: Record<string, unknown> = {};
  for (const key of Object.keys(object)) {
    const node = set[fieldElement(key)];
    if (node === undefined) setField(rest, key, object[key]);
    else if (!isMemberNode(node)) {
      setField(rest, key, removeFields(schemaOf(schema, key), object[key], node));
    }
  }
  return isBare(rest) ? null : rest;
}

function removeItems(
  schema: ListNode,
  list: readonly unknown[],
  set: FieldSet,
): readonly unknown[] | null {
  const rest: unknown[] = [];
  for (const item of list) {
    const node = set[itemElement(schema, item)];
    if (node === undefined) rest.push(item);
    else if (!isMemberNode(node)) rest.push(removeFields(schema.items, item, node));
  }
  return rest.length === 0 ? null : rest;
}

/**
 * The set with every named field on the way to a member made a member too. Sets of owned fields leave them out,
 * but a manager that owns all fields of a struct gives up the struct as well. Keys of maps and items of lists are
 * not added: they are owned for themselves.
 */
export function withNamedFields(schema: Schema, set: FieldSet): FieldSet {
  const result: Record<string, FieldSet> = {};
  for (const element of Object.keys(set)) {
    const node = set[element] as FieldSet;
    const isField = element.startsWith('f:');
    const name = element.slice(2);
    const below = isField ? schemaOf(schema, name) : itemsOf(schema);
    const named = below === undefined || isBare(node) ? node : withNamedFields(below, node);
    const isNamed = isField && schema.node === 'struct' && Object.hasOwn(schema.fields, name);
    result[element] = isNamed ? asMember(named) : named;
  }
  return result;
}

const itemsOf = (schema: Schema): Schema | undefined =>
  schema.node === 'list' ? schema.items : undefined;
