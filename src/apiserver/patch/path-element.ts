// One step of a field path, written as FieldsV1 writes it: `f:name` a field or map key, `k:{"port":80}` a list
// item by its keys, `v:"x"` a list item by its value, `i:0` a list item by its index.
import { goQuote } from '../../schema/go-quote.ts';
import { isJsonObject } from '../../schema/json-object.ts';
import type { ListNode, Schema } from '../../schema/node.ts';
import { field } from './json-value.ts';

export const fieldElement = (name: string): string => `f:${name}`;

/** Whether the items of a list are owned one by one, and not the list as a whole. */
export function isAssociative(list: ListNode): boolean {
  return list.listType === 'set' || list.listType === 'map';
}

/** The element of one item of an associative list. Keys that are absent count with their default. */
export function itemElement(list: ListNode, item: unknown): string {
  if (list.listType !== 'map' || !isJsonObject(item)) return `v:${JSON.stringify(item)}`;
  let text = '';
  for (const { name, prefix, standIn } of keysOf(list)) {
    const value = field(item, name) ?? standIn;
    if (value === undefined) continue;
    text += `${text === '' ? '' : ','}${prefix}${JSON.stringify(value)}`;
  }
  return `k:{${text}}`;
}

/** The values of an item's element; undefined where a key is left out. */
export function itemKeyValues(list: ListNode, item: unknown): readonly unknown[] {
  if (list.listType !== 'map' || !isJsonObject(item)) return [item];
  return keysOf(list).map(({ name, standIn }) => field(item, name) ?? standIn);
}

/** Why an item has no element, in the words of structured-merge-diff; nothing when it has one. */
export function itemElementError(list: ListNode, item: unknown): string | undefined {
  if (list.listType === 'map') {
    if (item === null) return 'associative list with keys may not have a null element';
    if (!isJsonObject(item)) return 'associative list with keys may not have non-map elements';
    const missing = keysOf(list).find(
      (key) => (field(item, key.name) ?? key.standIn) === undefined,
    );
    return missing === undefined
      ? undefined
      : `associative list with keys has an element that omits key field ${goQuote(missing.name)} (and doesn't have default value)`;
  }
  if (item === null) return "associative list without keys has an element that's an explicit null";
  if (Array.isArray(item)) return 'not supported: associative list with lists as elements';
  return isJsonObject(item)
    ? "associative list without keys has an element that's a map type"
    : undefined;
}

type Key = {
  readonly name: string;
  /** `"name":`, ready to print. */
  readonly prefix: string;
  readonly standIn: unknown;
};

const keysByList = new WeakMap<ListNode, readonly Key[]>();

function keysOf(list: ListNode): readonly Key[] {
  const known = keysByList.get(list);
  if (known !== undefined) return known;
  const keys = [...(list.keys ?? [])].sort().map((name) => ({
    name,
    prefix: `${JSON.stringify(name)}:`,
    standIn: keyDefault(list.items, name),
  }));
  keysByList.set(list, keys);
  return keys;
}

/** A field that Go always writes counts as zero when it is absent: OpenAPI gives it that default. */
function keyDefault(items: Schema, name: string): unknown {
  const node = items.node === 'struct' ? items.fields[name] : undefined;
  if (node?.node !== 'scalar') return undefined;
  if (node.default !== undefined || node.presence !== 'always') return node.default;
  if (node.type === 'boolean') return false;
  return node.type === 'int32' || node.type === 'int64' || node.type === 'double' ? 0 : '';
}

/** As error texts show it: `.name`, `[port=80,protocol="TCP"]`, `[="x"]`, `[0]`. */
export function elementText(element: string): string {
  const rest = element.slice(2);
  switch (element[0]) {
    case 'k': {
      const keys = Object.entries(JSON.parse(rest) as Record<string, unknown>);
      return `[${keys.map(([name, value]) => `${name}=${shownValue(value)}`).join(',')}]`;
    }
    case 'v':
      return `[=${shownValue(JSON.parse(rest))}]`;
    case 'i':
      return `[${rest}]`;
    default:
      return `.${rest}`;
  }
}

/** A node's own membership stands first. */
const elementKinds = '.fkvi';

/** Fields before keys before values before indexes; keys by their values, numbers as numbers. */
export function compareElements(a: string, b: string): number {
  if (a === b) return 0;
  const kinds = compareKinds(a, b);
  if (kinds !== 0) return kinds;
  if (a.startsWith('f:')) return compare(a, b);
  return compareKeyValues(keyValue(a), keyValue(b));
}

/** The same for many elements, of which each is read once. */
export function sortElements(elements: readonly string[]): readonly string[] {
  const read = elements.map((element) => ({
    element,
    value: /^[.f]/.test(element) ? undefined : (JSON.parse(element.slice(2)) as unknown),
  }));
  read.sort((a, b) => {
    const kinds = compareKinds(a.element, b.element);
    if (kinds !== 0) return kinds;
    if (a.value === undefined) return compare(a.element, b.element);
    return compareKeyValues(a.value, b.value);
  });
  return read.map(({ element }) => element);
}

const compareKinds = (a: string, b: string): number =>
  a[0] === b[0] ? 0 : elementKinds.indexOf(a[0] ?? '') - elementKinds.indexOf(b[0] ?? '');

function compareKeyValues(left: unknown, right: unknown): number {
  if (!isJsonObject(left) || !isJsonObject(right)) return compare(left, right);
  const names = Object.keys(left);
  for (const [index, name] of names.entries()) {
    const other = Object.keys(right)[index];
    const order =
      other === undefined ? 1 : compare(name, other) || compare(left[name], right[other]);
    if (order !== 0) return order;
  }
  return names.length - Object.keys(right).length;
}

/** Ports and the like recur. */
const knownValues = new Map<string, unknown>();
const maxKnownValues = 1_000;

function keyValue(element: string): unknown {
  let value = knownValues.get(element);
  if (value === undefined) {
    value = JSON.parse(element.slice(2));
    if (knownValues.size >= maxKnownValues) knownValues.clear();
    knownValues.set(element, value);
  }
  return value;
}

function compare(a: unknown, b: unknown): number {
  if (typeof a !== typeof b) return typeof a < typeof b ? -1 : 1;
  const [x, y] = [a as string, b as string];
  return x === y ? 0 : x < y ? -1 : 1;
}

/** Texts as Go's %q, everything else as JSON. */
function shownValue(value: unknown): string {
  return typeof value === 'string' ? goQuote(value) : JSON.stringify(value);
}
