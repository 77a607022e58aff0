// The field set of an applied object: what its manager owns.

import { isJsonObject, type JsonObject } from '../../schema/json-object.ts';
import type { ListNode, MapNode, Schema, StructNode } from '../../schema/node.ts';
import { spendSteps } from '../../schema/work-budget.ts';
import { asMember, emptySet, type FieldSet, memberNode } from './fieldset.ts';
import { fieldElement, itemElement } from './path-element.ts';
import { isAtomic, isBare, schemaOf } from './typed-value.ts';

export function fieldsOf(schema: StructNode, object: unknown): FieldSet {
  return (isJsonObject(object) ? fieldsOfMap(schema, object) : undefined) ?? emptySet;
}

function fieldsOfValue(schema: Schema, value: unknown): FieldSet | undefined {
  if (isAtomic(schema)) return memberNode;
  if (schema.node === 'list') return Array.isArray(value) ? fieldsOfList(schema, value) : undefined;
  if (schema.node === 'scalar') return memberNode;
  return isJsonObject(value) ? fieldsOfMap(schema, value) : undefined;
}

/** Struct fields are not members themselves, unless they are empty; keys of maps are. */
function fieldsOfMap(schema: MapNode | StructNode, object: JsonObject): FieldSet | undefined {
  const set: Record<string, FieldSet> = {};
  let isEmpty = true;
  for (const key of Object.keys(object)) {
    spendSteps();
    const value = object[key];
    const below = fieldsOfValue(schemaOf(schema, key), value);
    const isNothing = value === null || (isJsonObject(value) && isBare(value));
    const owned = isNothing || schema.node === 'map' ? asMember(below) : below;
    if (owned === undefined) continue;
    set[fieldElement(key)] = owned;
    isEmpty = false;
  }
  return isEmpty ? undefined : set;
}

/** Items with the same path element are ambiguous: then only the element is owned. */
function fieldsOfList(schema: ListNode, list: readonly unknown[]): FieldSet | undefined {
  const set: Record<string, FieldSet> = {};
  for (const item of list) {
    spendSteps();
    const element = itemElement(schema, item);
    set[element] = element in set ? memberNode : asMember(fieldsOfValue(schema.items, item));
  }
  return list.length === 0 ? undefined : set;
}
