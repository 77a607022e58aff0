// Joining two lists in a strategic merge, and the order in which the result stands: items of the patch keep the
// patch's order, the others theirs; an item that only the patch has goes before those that only the server has.
import { badRequest } from '../../meta/api-error.ts';
import { isJsonObject, type JsonObject } from '../../schema/json-object.ts';
import type { ListNode, Schema } from '../../schema/node.ts';
import { spendSteps } from '../../schema/work-budget.ts';
import { goText } from './go-text.ts';
import { field } from './json-value.ts';
import { listOfLists, noMergeKey, unknownDirective } from './strategic-error.ts';

export type MergeMaps = (
  schema: Schema | undefined,
  original: JsonObject,
  patch: JsonObject,
) => JsonObject;

type ListMerge = {
  readonly list: ListNode | undefined;
  readonly original: readonly unknown[];
  readonly patch: readonly unknown[];
  readonly isDeletion: boolean;
  /** A parameter, because maps and lists merge recursively. */
  readonly mergeMaps: MergeMaps;
};

/** An item is looked at several times: for its type, its key and its index. */
const stepsOfItem = 5;

export function mergeLists({
  list,
  original,
  patch,
  isDeletion,
  mergeMaps,
}: ListMerge): readonly unknown[] {
  if (original.length === 0 && patch.length === 0) return original;
  spendSteps(stepsOfItem * (original.length + patch.length));
  if (!holdsMaps(original, patch)) {
    if (isDeletion) {
      const deleted = new Set(patch);
      return original.filter((item) => !deleted.has(item));
    }
    const values = [...new Set([...original, ...patch])];
    return inOrder({ items: values, wanted: patch, current: original, mergeKey: '' });
  }
  const mergeKey = list?.mergeKey ?? '';
  if (mergeKey === '') throw badRequest('cannot merge lists without merge key for struct');
  const { kept, plain } = applyItemDirectives(
    original as readonly JsonObject[],
    patch as readonly JsonObject[],
    mergeKey,
  );
  const merged = mergeItems(kept, plain, mergeKey, (before, change) =>
    mergeMaps(list?.items, before, change),
  );
  return inOrder({ items: merged, wanted: plain, current: kept, mergeKey });
}

/** Whether the items are objects; all must be of one type, and lists in lists do not merge. */
export function holdsMaps(...lists: readonly (readonly unknown[])[]): boolean {
  const items = lists.flat();
  const types = new Set(items.map(itemType));
  if (types.has('list')) throw listOfLists();
  if (types.size > 1) {
    throw badRequest(`list element types are not identical: [${lists.map(goText).join(' ')}]`);
  }
  return types.has('map');
}

function itemType(item: unknown): string {
  if (Array.isArray(item)) return 'list';
  if (isJsonObject(item)) return 'map';
  return typeof item === 'number' ? (Number.isInteger(item) ? 'int' : 'float') : typeof item;
}

type Directed = { readonly kept: readonly JsonObject[]; readonly plain: readonly JsonObject[] };

/** `$patch: delete` removes items with that key, `$patch: replace` all live items. */
function applyItemDirectives(
  original: readonly JsonObject[],
  patch: readonly JsonObject[],
  mergeKey: string,
): Directed {
  const plain = patch.filter((item) => !Object.hasOwn(item, '$patch'));
  const deleted = new Set<unknown>();
  let replaces = false;
  for (const item of patch) {
    if (!Object.hasOwn(item, '$patch')) continue;
    const directive = item.$patch;
    if (directive === 'replace') replaces = true;
    else if (directive === 'delete') deleted.add(keyOf(item, mergeKey));
    else if (directive === 'merge') {
      throw badRequest('merging lists cannot yet be specified in the patch');
    } else throw unknownDirective(directive, item);
  }
  if (replaces) return { kept: plain, plain: [] };
  const kept =
    deleted.size === 0 ? original : original.filter((item) => !deleted.has(field(item, mergeKey)));
  return { kept, plain };
}

function keyOf(item: JsonObject, mergeKey: string): unknown {
  if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
  return item[mergeKey];
}

function mergeItems(
  original: readonly JsonObject[],
  patch: readonly JsonObject[],
  mergeKey: string,
  merge: (before: JsonObject, change: JsonObject) => JsonObject,
): readonly JsonObject[] {
  const merged = [...original];
  const indexes = new Map<unknown, number>();
  for (const [index, item] of original.entries()) {
    const key = field(item, mergeKey);
    if (!indexes.has(key)) indexes.set(key, index);
  }
  for (const item of patch) {
    const key = keyOf(item, mergeKey);
    const index = indexes.get(key) ?? merged.length;
    const before = merged[index];
    if (before === undefined) indexes.set(key, index);
    merged[index] = before === undefined ? item : merge(before, item);
  }
  return merged;
}

type Ordering = {
  readonly items: readonly unknown[];
  /** The requested order of some of the items. */
  readonly wanted: readonly unknown[];
  /** The order on the server. */
  readonly current: readonly unknown[];
  /** Empty for lists of values. */
  readonly mergeKey: string;
};

export function inOrder({ items, wanted, current, mergeKey }: Ordering): readonly unknown[] {
  const keyed = (item: unknown): unknown =>
    mergeKey === '' ? item : keyOf(item as JsonObject, mergeKey);
  const indexIn = (list: readonly unknown[]) => {
    const indexes = new Map<unknown, number>();
    for (const [index, item] of list.entries()) {
      const key = keyed(item);
      if (!indexes.has(key)) indexes.set(key, index);
    }
    return (item: unknown): number | undefined => indexes.get(keyed(item));
  };
  const wantedIndex = indexIn(wanted);
  const currentIndex = indexIn(current);
  const sorted = (list: unknown[], index: (item: unknown) => number | undefined) =>
    list.sort((a, b) => (index(a) ?? 0) - (index(b) ?? 0));
  const named = sorted(
    items.filter((item) => wantedIndex(item) !== undefined),
    wantedIndex,
  );
  const others = sorted(
    items.filter((item) => wantedIndex(item) === undefined),
    currentIndex,
  );
  return interleave(others, named, currentIndex);
}

/** An item of the server alone comes first only where the server had it before the next item of the patch. */
function interleave(
  others: readonly unknown[],
  named: readonly unknown[],
  currentIndex: (item: unknown) => number | undefined,
): readonly unknown[] {
  const result: unknown[] = [];
  let next = 0;
  for (const item of named) {
    const index = currentIndex(item);
    while (next < others.length && index !== undefined) {
      const otherIndex = currentIndex(others[next]);
      if (otherIndex === undefined || otherIndex > index) break;
      result.push(others[next]);
      next += 1;
    }
    result.push(item);
  }
  return [...result, ...others.slice(next)];
}
