// The live object with an applied configuration laid over it: atomic values are replaced, the rest is joined.

import { isJsonObject, type JsonObject } from '../../schema/json-object.ts';
import type { ListNode, MapNode, Schema, StructNode } from '../../schema/node.ts';
import { spendSteps } from '../../schema/work-budget.ts';
import { field, setField } from './json-value.ts';
import { itemElement } from './path-element.ts';
import { isAtomic, isBare, schemaOf } from './typed-value.ts';

/** `undefined` on either side is absent; an applied null is a value. */
export function mergeTyped(schema: Schema, live: unknown, applied: unknown): unknown {
  if (applied === undefined) return live;
  if (live === undefined || isAtomic(schema) || (isBare(live) && isBare(applied))) return applied;
  if (schema.node === 'list') return mergeLists(schema, asList(live), asList(applied));
  return mergeFields(schema as MapNode | StructNode, asFields(live), asFields(applied));
}

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const asFields = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

function mergeFields(
  schema: MapNode | StructNode,
  live: JsonObject,
  applied: JsonObject,
): JsonObject {
  const merged: Record<string, unknown> = { ...live };
  for (const key of Object.keys(applied)) {
    spendSteps();
    setField(merged, key, mergeTyped(schemaOf(schema, key), field(live, key), applied[key]));
  }
  return merged;
}

type Item = readonly [element: string, item: unknown];

/**
 * Applied items stand in the applied order. Items that only the live list has keep their place before the next
 * item that both have; new items come after them.
 */
function mergeLists(
  schema: ListNode,
  live: readonly unknown[],
  applied: readonly unknown[],
): readonly unknown[] {
  spendSteps(live.length + applied.length);
  const withElement = (item: unknown): Item => [itemElement(schema, item), item];
  const old = live.map(withElement);
  const wanted = applied.map(withElement);
  const oldItems = itemsByElement(old);
  const isWanted = new Set(wanted.map(([element]) => element));
  const shared = wanted.map(([element]) => element).filter((element) => oldItems.has(element));
  const merged: unknown[] = [];
  let nextOld = 0;
  let nextShared = 0;
  for (const [element, item] of wanted) {
    for (; nextOld < old.length; nextOld += 1) {
      const [oldElement, oldItem] = old[nextOld] as Item;
      if (!isWanted.has(oldElement)) merged.push(oldItem);
      else if (oldElement === shared[nextShared]) break;
    }
    merged.push(mergeTyped(schema.items, oldItems.get(element), item));
    if (element !== shared[nextShared]) continue;
    nextShared += 1;
    if (old[nextOld]?.[0] === element) nextOld += 1;
  }
  const rest = old.slice(nextOld).filter(([element]) => !isWanted.has(element));
  return [...merged, ...rest.map(([, item]) => item)];
}

/** Live items with the same path element are ambiguous: an applied one replaces them. */
function itemsByElement(items: readonly Item[]): ReadonlyMap<string, unknown> {
  const found = new Map<string, unknown>();
  for (const [element, item] of items) found.set(element, found.has(element) ? undefined : item);
  return found;
}
