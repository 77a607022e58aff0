// $setElementOrder/<list>: the whole order of a list, sent along with a patch that names only some of its items.
import { badRequest } from '../../meta/api-error.ts';
import { isJsonObject, type JsonObject } from '../../schema/json-object.ts';
import type { ListNode, Schema } from '../../schema/node.ts';
import { goText } from './go-text.ts';
import { field, setField } from './json-value.ts';
import { badElementOrder, noMergeKey, unknownField, wrongType } from './strategic-error.ts';
import {
  elementOrderPrefix,
  fieldSchema,
  strategyOf,
  withoutDirectives,
} from './strategic-field.ts';
import { holdsMaps, inOrder, type MergeMaps, mergeLists } from './strategic-list.ts';

type Request = {
  readonly schema: Schema | undefined;
  readonly original: JsonObject;
  readonly patch: JsonObject;
  readonly mergeMaps: MergeMaps;
};

/** Merges and orders the lists that have such a directive, and takes them and it out of the patch. */
export function applyElementOrders({ schema, original, patch, mergeMaps }: Request): {
  readonly original: JsonObject;
  readonly patch: JsonObject;
} {
  const directives = Object.keys(patch).filter((key) => key.startsWith(elementOrderPrefix));
  if (directives.length === 0) return { original, patch };
  const result: Record<string, unknown> = { ...original };
  const taken = new Set(directives);
  for (const directive of directives) {
    const name = listName(directive);
    const [current, change] = [listIn(result, name), listIn(patch, name)];
    const list = listSchema(schema, name);
    const merged = mergeInOrder({ list, current, change, order: patch[directive], mergeMaps });
    if (merged !== undefined) setField(result, name, merged);
    if (change !== undefined) taken.add(name);
  }
  const rest = Object.entries(patch).filter(([key]) => !taken.has(key));
  return { original: result, patch: Object.fromEntries(rest) };
}

function listName(directive: string): string {
  if (!directive.startsWith(`${elementOrderPrefix}/`)) throw badElementOrder();
  return directive.slice(elementOrderPrefix.length + 1);
}

function listIn(object: JsonObject, name: string): readonly unknown[] | undefined {
  const value = field(object, name);
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw wrongType('[]interface {}', value);
  return value;
}

function listSchema(schema: Schema | undefined, name: string): ListNode | undefined {
  const node = fieldSchema(schema, name);
  if (node === undefined) throw unknownField(schema?.node === 'struct' ? schema.name : 'map', name);
  return node.node === 'list' ? node : undefined;
}

type OrderedMerge = {
  readonly list: ListNode | undefined;
  readonly current: readonly unknown[] | undefined;
  readonly change: readonly unknown[] | undefined;
  readonly order: unknown;
  readonly mergeMaps: MergeMaps;
};

function mergeInOrder(merge: OrderedMerge): readonly unknown[] | undefined {
  const { list, current, change, order } = merge;
  if (!Array.isArray(order)) throw wrongType('[]interface {}', order);
  checkOrder(change ?? [], order, list?.mergeKey ?? '');
  if (current === undefined && change === undefined) return undefined;
  const mergeKey = holdsMaps(current ?? [], change ?? []) ? (list?.mergeKey ?? '') : '';
  return inOrder({ items: mergeBoth(merge), wanted: order, current: current ?? [], mergeKey });
}

function mergeBoth({ list, current, change, mergeMaps }: OrderedMerge): readonly unknown[] {
  if (change === undefined) return current ?? [];
  if (current === undefined) return withoutDirectives(change) as readonly unknown[];
  if (strategyOf(list) !== 'merge') return change;
  return mergeLists({ list, original: current, patch: change, isDeletion: false, mergeMaps });
}

/** What the patch sets must stand in the directive, in the same order. */
function checkOrder(change: readonly unknown[], order: readonly unknown[], mergeKey: string): void {
  const keyOf = (item: unknown): unknown => {
    if (mergeKey === '') return item;
    if (!isJsonObject(item)) throw wrongType('map[string]interface {}', item);
    if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
    return item[mergeKey];
  };
  if (order.length === 0) return;
  const wanted = order.map(keyOf);
  let start = 0;
  for (const item of change) {
    if (isJsonObject(item) && Object.hasOwn(item, '$patch')) continue;
    const found = wanted.indexOf(keyOf(item), start);
    if (found === -1) {
      throw badRequest(
        `The order in patch list:\n${goText(change)}\n doesn't match ${elementOrderPrefix} list:\n${goText(order)}\n`,
      );
    }
    start = found + 1;
  }
}
