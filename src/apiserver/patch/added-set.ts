// The field set of a new value: all its fields. Every create passes here, so the set is
// built in one pass and, as far as the schema has it, in the stored order.

import { isJsonObject, type JsonObject } from '../../schema/json-object.ts';
import type { ListNode, MapNode, Schema, StructNode } from '../../schema/node.ts';
import { spendSteps } from '../../schema/work-budget.ts';
import { type FieldSet, memberNode } from './fieldset.ts';
import { fieldElement, itemElement } from './path-element.ts';
import { isAtomic, isBare, schemaOf } from './typed-value.ts';

type Tree = Record<string, FieldSet>;

export function addedSet(schema: Schema, value: unknown): FieldSet {
  if (isAtomic(schema) || isBare(value)) return memberNode;
  if (schema.node === 'list') return Array.isArray(value) ? addedItems(schema, value) : memberNode;
  return isJsonObject(value) ? addedFields(schema as MapNode | StructNode, value) : memberNode;
}

function addedFields(schema: MapNode | StructNode, fields: JsonObject): FieldSet {
  const set: Tree = { '.': memberNode };
  let isMember = true;
  for (const name of schema.node === 'struct'
    ? namesInOrder(schema, fields)
    : Object.keys(fields)) {
    const value = fields[name];
    if (value === undefined) continue;
    spendSteps();
    set[fieldElement(name)] = addedSet(schemaOf(schema, name), value);
    isMember = false;
  }
  return isMember ? memberNode : set;
}

const orders = new WeakMap<StructNode, readonly string[]>();

/** Of what the schema knows; an object with other fields keeps its own order. */
function namesInOrder(schema: StructNode, fields: JsonObject): readonly string[] {
  let names = orders.get(schema);
  if (names === undefined) {
    names = Object.keys(schema.fields).sort();
    orders.set(schema, names);
  }
  for (const name in fields) if (!Object.hasOwn(schema.fields, name)) return Object.keys(fields);
  return names.filter((name) => Object.hasOwn(fields, name));
}

/** Items with the same path element are ambiguous: then only the element is owned. */
function addedItems(schema: ListNode, items: readonly unknown[]): FieldSet {
  if (items.length === 0) return memberNode;
  const set: Tree = { '.': memberNode };
  for (const item of items) {
    spendSteps();
    const element = itemElement(schema, item);
    set[element] = element in set ? memberNode : addedSet(schema.items, item);
  }
  return set;
}
