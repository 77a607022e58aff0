// Sets of fields. A set has the form in which managedFields stores it, FieldsV1, so that decoding and
// encoding cost nothing: `{"f:spec":{"f:type":{}}}` has the member .spec.type. A node without children is a
// member; a node with children is one too if it holds ".". The root itself is never a member.
// Sets are never changed; an operation that changes nothing returns its first operand itself.

import { isJsonObject } from '../../schema/json-object.ts';
import { isTextTooDeep } from '../../schema/nesting.ts';
import { compareElements, elementText, sortElements } from './path-element.ts';

export type FieldSet = { readonly [element: string]: FieldSet };

type Tree = Record<string, FieldSet>;

const self = '.';

export const emptySet: FieldSet = Object.freeze({});
/** As a node: a member without children. */
export const memberNode: FieldSet = emptySet;

export function isEmptySet(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

export function isMemberNode(node: FieldSet): boolean {
  return self in node || isEmptySet(node);
}

/** The node as a member, with what is below it. */
export function asMember(node: FieldSet | undefined): FieldSet {
  if (node === undefined) return memberNode;
  return isMemberNode(node) ? node : { [self]: memberNode, ...node };
}

function node(isMember: boolean, children: Tree): FieldSet | undefined {
  if (isEmptySet(children)) return isMember ? memberNode : undefined;
  return isMember ? { [self]: memberNode, ...children } : children;
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmptySet(a)) return b;
  return a === b ? a : unionOf(a, b);
}

function unionOf(a: FieldSet, b: FieldSet): FieldSet {
  let result: Tree | undefined;
  for (const element of Object.keys(b)) {
    const [left, right] = [a[element], b[element] ?? memberNode];
    const both = left === undefined ? right : unionOfNodes(left, right);
    if (both === left) continue;
    result ??= { ...a };
    result[element] = both;
  }
  return result ?? a;
}

function unionOfNodes(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a;
  if (isEmptySet(b)) return asMember(a);
  return isEmptySet(a) ? asMember(b) : unionOf(a, b);
}

/** Of many sets at once, at the cost of what they hold: one after the other, the first would be copied as often. */
export function unionAll(sets: readonly FieldSet[]): FieldSet {
  const given = sets.filter((set) => !isEmptySet(set));
  const [only] = given;
  if (given.length < 2) return only ?? emptySet;
  const own = new WeakSet<object>();
  const all: Tree = {};
  for (const set of given) addAll(all, set, own);
  return all;
}

/** Adds to a tree of our own; what it holds of others is copied before it is changed. */
function addAll(tree: Tree, set: FieldSet, own: WeakSet<object>): void {
  for (const element of Object.keys(set)) {
    const [left, right] = [tree[element], set[element] ?? memberNode];
    if (left === undefined || left === right) {
      tree[element] = right;
      continue;
    }
    if (element === self) continue;
    const isMember = isMemberNode(left) || isMemberNode(right);
    let node = left as Tree;
    if (!own.has(node)) {
      node = { ...left };
      own.add(node);
      tree[element] = node;
    }
    addAll(node, right, own);
    if (isMember && !isEmptySet(node)) node[self] = memberNode;
  }
}

/** The members of a that b does not have. What is below a member of b stays. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmptySet(a) || isEmptySet(b)) return a;
  return differenceOf(a, b, false) ?? emptySet;
}

function differenceOf(a: FieldSet, b: FieldSet, isMember: boolean): FieldSet | undefined {
  const children: Tree = {};
  const stays = isMember && !isMemberNode(b);
  let same = stays === isMember;
  for (const element of Object.keys(a)) {
    if (element === self) continue;
    const [left, right] = [a[element] ?? memberNode, b[element]];
    const rest = right === undefined ? left : differenceOf(left, right, isMemberNode(left));
    if (rest !== left) same = false;
    if (rest !== undefined) children[element] = rest;
  }
  return same ? a : node(stays, children);
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmptySet(a) || isEmptySet(b)) return emptySet;
  return intersectionOf(a, b, false) ?? emptySet;
}

function intersectionOf(a: FieldSet, b: FieldSet, areMembers: boolean): FieldSet | undefined {
  const children: Tree = {};
  for (const element of Object.keys(a)) {
    const [left, right] = [a[element] ?? memberNode, b[element]];
    if (element === self || right === undefined) continue;
    const both = intersectionOf(left, right, isMemberNode(left) && isMemberNode(right));
    if (both !== undefined) children[element] = both;
  }
  return node(areMembers, children);
}

export function isSubset(a: FieldSet, b: FieldSet): boolean {
  return isEmptySet(difference(a, b));
}

export function sameSet(a: FieldSet, b: FieldSet): boolean {
  return a === b || (isSubset(a, b) && isSubset(b, a));
}

/** Without the field at the path and all below it. */
export function withoutPath(set: FieldSet, [name, ...rest]: readonly string[]): FieldSet {
  const element = `f:${name}`;
  const found = set[element];
  if (found === undefined) return set;
  const kept = rest.length === 0 ? memberNode : withoutPath(found, rest);
  if (kept === found && rest.length > 0) return set;
  const { [element]: _dropped, ...others } = set;
  return isEmptySet(kept) ? others : { ...others, [element]: kept };
}

/** The elements in their order, the node itself first. */
function elementsOf(set: FieldSet): readonly string[] {
  const elements = Object.keys(set);
  if (elements.length < 2) return elements;
  // Most nodes have fields only, whose order is that of their names.
  const isPlain = elements.every((element) => element === self || element.startsWith('f:'));
  return isPlain ? elements.sort() : sortElements(elements);
}

/** The members' paths as error texts show them; at each level members first, then what is below. */
export function memberPaths(set: FieldSet, prefix = ''): readonly string[] {
  const elements = elementsOf(set).filter((element) => element !== self);
  const members = elements.filter((element) => isMemberNode(set[element] ?? memberNode));
  return [
    ...members.map((element) => prefix + elementText(element)),
    ...elements.flatMap((element) =>
      memberPaths(set[element] ?? emptySet, prefix + elementText(element)),
    ),
  ];
}

/** The same set with its elements in order, as it is stored; itself where they are. */
export function printFieldSet(set: FieldSet): FieldSet {
  return isInOrder(set) ? set : inOrder(set);
}

function isInOrder(set: FieldSet): boolean {
  let last = self;
  for (const element in set) {
    if (element !== self && compareElements(last, element) >= 0) return false;
    if (!isInOrder(set[element] ?? memberNode)) return false;
    last = element;
  }
  return true;
}

function inOrder(set: FieldSet): FieldSet {
  const sorted: Tree = {};
  for (const element of elementsOf(set)) {
    sorted[element] = printFieldSet(set[element] ?? memberNode);
  }
  return sorted;
}

/** FieldsV1 from outside: checked, with keys and values in their canonical spelling; itself where it has it. */
export function parseFieldSet(value: unknown): FieldSet | undefined {
  if (!isJsonObject(value)) return undefined;
  const set: Tree = {};
  let isCanonical = true;
  for (const key of Object.keys(value)) {
    const element = key === self || key.startsWith('f:') ? key : canonicalElement(key);
    const below = parseFieldSet(value[key]);
    if (element === undefined || below === undefined) return undefined;
    if (element !== key || below !== value[key]) isCanonical = false;
    set[element] = below;
  }
  return isCanonical ? (value as FieldSet) : set;
}

function canonicalElement(key: string): string | undefined {
  const [kind, rest] = [key.slice(0, 2), key.slice(2)];
  if (kind === 'i:') return /^-?\d+$/.test(rest) ? `i:${Number(rest)}` : undefined;
  if (kind !== 'k:' && kind !== 'v:') return undefined;
  const value = parseJson(rest);
  if (kind === 'v:') return value === undefined ? undefined : `v:${JSON.stringify(value)}`;
  if (!isJsonObject(value)) return undefined;
  const keys = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `k:${JSON.stringify(Object.fromEntries(keys))}`;
}

function parseJson(text: string): unknown {
  if (isTextTooDeep(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
