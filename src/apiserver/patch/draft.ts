// A value that many operations change before it is read. What an operation touches is converted once, into structures
// that grow and shrink at a cost that does not depend on their size; the rest remains shared, unchanged JSON.

import { isJsonObject, type JsonObject } from '../../schema/json-object.ts';
import { isTooManyOpen } from '../../schema/nesting.ts';
import { spendSteps } from '../../schema/work-budget.ts';
import { field, setField } from './json-value.ts';

/** Items in blocks, so that an insert or a removal does not move all that follow. */
type DraftList = { readonly blocks: unknown[][]; length: number };
type DraftFields = Map<string, unknown>;
export type Draft = DraftFields | DraftList;
/** A list or a map, converted or not. */
export type Container = Draft | JsonObject | readonly unknown[];

/** An operation that fails; the caller words the error. */
export class NoSuchPath extends Error {}

/** Blocks of this length are split when they double. */
const blockLength = 512;
const lists = new WeakSet<object>();

const isDraftList = (value: unknown): value is DraftList =>
  typeof value === 'object' && value !== null && lists.has(value);
const isDraftFields = (value: unknown): value is DraftFields => value instanceof Map;

export function containerIn(value: unknown): Container {
  if (typeof value === 'object' && value !== null) return value as Container;
  throw new NoSuchPath();
}

/** The value below a key; undefined where a map has none. */
export function childOf(container: Container, key: string): unknown {
  if (isDraftFields(container)) return container.get(key);
  if (isDraftList(container)) {
    const { block, at } = positionIn(container, indexBelow(container.length, key));
    return block[at];
  }
  if (Array.isArray(container)) return container[indexBelow(container.length, key)];
  return field(container as JsonObject, key);
}

/** The container itself where it is converted already. */
export function takeOver(container: Container): Draft {
  if (isDraftFields(container) || isDraftList(container)) return container;
  if (!Array.isArray(container)) {
    const entries = Object.entries(container);
    spendSteps(entries.length);
    return new Map(entries);
  }
  spendSteps(container.length);
  const blocks: unknown[][] = [];
  for (let at = 0; at < container.length; at += blockLength) {
    blocks.push(container.slice(at, at + blockLength));
  }
  const list = { blocks: blocks.length === 0 ? [[]] : blocks, length: container.length };
  lists.add(list);
  return list;
}

/** In a list the item must be there; a map takes any key. */
export function replaceChild(draft: Draft, key: string, value: unknown): void {
  if (isDraftFields(draft)) {
    draft.set(key, value);
    return;
  }
  const { block, at } = positionIn(draft, indexBelow(draft.length, key));
  block[at] = value;
}

export function removeChild(draft: Draft, key: string): void {
  if (isDraftFields(draft)) {
    if (!draft.delete(key)) throw new NoSuchPath();
    return;
  }
  const { block, at } = positionIn(draft, indexBelow(draft.length, key));
  block.splice(at, 1);
  draft.length -= 1;
}

/** Before the item of that index, or at the end. */
export function addChild(draft: Draft, key: string, value: unknown): void {
  if (isDraftFields(draft)) {
    draft.set(key, value);
    return;
  }
  const index = key === '-' ? draft.length : indexBelow(draft.length + 1, key);
  const { block, at, number } = positionIn(draft, index);
  block.splice(at, 0, value);
  draft.length += 1;
  if (block.length >= 2 * blockLength) {
    draft.blocks.splice(number + 1, 0, block.splice(blockLength));
  }
}

type Position = { readonly block: unknown[]; readonly at: number; readonly number: number };

/** Of the item of an index; of what follows the last one, where that is asked for. */
function positionIn({ blocks }: DraftList, index: number): Position {
  let at = index;
  let number = 0;
  for (; number < blocks.length - 1; number += 1) {
    const { length } = blocks[number] as unknown[];
    if (at < length) break;
    at -= length;
  }
  return { block: blocks[number] as unknown[], at, number };
}

/** Longer texts are no index of anything. */
const maxIndexLength = 16;

function indexBelow(length: number, key: string): number {
  if (key.length > maxIndexLength || !/^[+-]?\d+$/.test(key)) throw new NoSuchPath();
  const index = Number(key);
  if (index >= length || index < -length) throw new NoSuchPath();
  return index < 0 ? index + length : index;
}

/** As plain JSON; unconverted parts are shared. Iterative, because moves can nest deeper than the stack. */
export function plainOf(value: unknown, depth = 0): unknown {
  if (isTooManyOpen(depth)) throw new NoSuchPath();
  if (isDraftFields(value)) {
    const fields: Record<string, unknown> = {};
    spendSteps(value.size);
    for (const [key, item] of value) setField(fields, key, plainOf(item, depth + 1));
    return fields;
  }
  if (!isDraftList(value)) return value;
  spendSteps(value.length);
  return value.blocks.flat().map((item) => plainOf(item, depth + 1));
}

/** Sizes of unchanged maps, counted once however often they are compared. */
const counts = new WeakMap<object, number>();

function keyCount(fields: object): number {
  let count = counts.get(fields);
  if (count === undefined) {
    count = Object.keys(fields).length;
    counts.set(fields, count);
  }
  return count;
}

/** Exact equality with plain JSON, at the cost of the smaller of the two. */
export function equalsPlain(found: unknown, wanted: unknown): boolean {
  if (found === wanted) return true;
  if (Array.isArray(wanted)) {
    const items = isDraftList(found) && found.length === wanted.length ? plainItems(found) : found;
    if (!Array.isArray(items) || items.length !== wanted.length) return false;
    return wanted.every((item, index) => equalsPlain(items[index], item));
  }
  if (!isJsonObject(wanted) || typeof found !== 'object' || found === null) return false;
  if (isDraftList(found) || Array.isArray(found)) return false;
  const isTaken = isDraftFields(found);
  if ((isTaken ? found.size : keyCount(found)) !== keyCount(wanted)) return false;
  return Object.keys(wanted).every(
    (key) =>
      (isTaken ? found.has(key) : Object.hasOwn(found, key)) &&
      equalsPlain(isTaken ? found.get(key) : (found as JsonObject)[key], wanted[key]),
  );
}

const plainItems = ({ blocks }: DraftList): readonly unknown[] => blocks.flat();
