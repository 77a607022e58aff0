// The fields that differ between two states of an object, as two field sets. Equal parts cost one comparison each, because
// this runs on every write.

import { isJsonObject, type JsonObject } from '../../schema/json-object.ts';
import type { ListNode, MapNode, Schema, StructNode } from '../../schema/node.ts';
import { addedSet } from './added-set.ts';
import { asMember, type FieldSet, memberNode } from './fieldset.ts';
import { field, sameValue } from './json-value.ts';
import { fieldElement, itemElement } from './path-element.ts';
import { isAtomic, isBare, schemaOf } from './typed-value.ts';

export type Comparison = {
  /** Added or modified. */
  readonly changed: FieldSet;
  readonly removed: FieldSet;
};

/** As nodes of the two sets; undefined where nothing differs. */
type Difference = {
  readonly changed: FieldSet | undefined;
  readonly removed: FieldSet | undefined;
};

type Builder = {
  changed: Record<string, FieldSet> | undefined;
  removed: Record<string, FieldSet> | undefined;
};

type Names = ReadonlySet<string>;

/** Fields that identify the object; no manager owns them. Upstream: stripmeta.go. */
const unownedMetadata: Names = new Set([
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
]);
const unownedFields: Names = new Set(['apiVersion', 'kind']);
/** Metadata is compared for itself. */
const skippedFields: Names = new Set([...unownedFields, 'metadata']);

/** Compares all that can be owned. */
export function compareObjects(
  schema: StructNode,
  before: JsonObject,
  after: JsonObject,
): Comparison {
  const metadata = schemaOf(schema, 'metadata');
  const ofMetadata =
    metadata.node === 'struct'
      ? compareFields(
          metadata,
          asFields(before.metadata),
          asFields(after.metadata),
          unownedMetadata,
        )
      : undefined;
  const rest = compareFields(schema, before, after, skippedFields);
  const all: Builder = { changed: undefined, removed: undefined };
  if (ofMetadata !== undefined) collect(all, 'f:metadata', ofMetadata);
  return {
    changed: { ...all.changed, ...rest?.changed },
    removed: { ...all.removed, ...rest?.removed },
  };
}

/** Removes from a set the fields that no manager owns. */
export function withoutUnowned(set: FieldSet): FieldSet {
  const { 'f:apiVersion': _version, 'f:kind': _kind, 'f:metadata': metadata, ...rest } = set;
  if (metadata === undefined) return rest;
  const owned = Object.entries(metadata).filter(
    ([element]) => element !== '.' && !unownedMetadata.has(element.slice(2)),
  );
  return owned.length === 0 ? rest : { ...rest, 'f:metadata': Object.fromEntries(owned) };
}

const none: Names = new Set();

function compareFields(
  schema: MapNode | StructNode,
  before: JsonObject,
  after: JsonObject,
  skipped = none,
): Difference | undefined {
  let difference: Builder | undefined;
  const compareKey = (key: string): void => {
    const [old, now] = [field(before, key), field(after, key)];
    if (old === now || skipped.has(key)) return;
    const below = compareValues(schemaOf(schema, key), old, now);
    if (below === undefined) return;
    difference ??= { changed: undefined, removed: undefined };
    collect(difference, fieldElement(key), below);
  };
  for (const key of Object.keys(after)) compareKey(key);
  for (const key of Object.keys(before)) {
    if (!Object.hasOwn(after, key)) compareKey(key);
  }
  return difference;
}

function collect(builder: Builder, element: string, { changed, removed }: Difference): void {
  if (changed !== undefined) {
    builder.changed ??= {};
    builder.changed[element] = changed;
  }
  if (removed !== undefined) {
    builder.removed ??= {};
    builder.removed[element] = removed;
  }
}

/** `undefined` is absent; null is there. */
function compareValues(schema: Schema, before: unknown, after: unknown): Difference | undefined {
  if (before === after) return undefined;
  if (before === undefined) return { changed: addedSet(schema, after), removed: undefined };
  if (isAtomic(schema) || (isBare(before) && isBare(after))) return compareWhole(before, after);
  const below =
    schema.node === 'list'
      ? compareItems(schema, asList(before), asList(after))
      : compareFields(schema as MapNode | StructNode, asFields(before), asFields(after));
  if (after === undefined) return { changed: undefined, removed: asMember(below?.removed) };
  return below;
}

const wholeChanged: Difference = { changed: memberNode, removed: undefined };
const wholeRemoved: Difference = { changed: undefined, removed: memberNode };

function compareWhole(before: unknown, after: unknown): Difference | undefined {
  if (after === undefined) return wholeRemoved;
  return sameValue(before, after) ? undefined : wholeChanged;
}

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const asFields = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

function compareItems(
  schema: ListNode,
  before: readonly unknown[],
  after: readonly unknown[],
): Difference | undefined {
  const old = byElement(schema, before);
  const now = byElement(schema, after);
  const difference: Builder = { changed: undefined, removed: undefined };
  for (const element of new Set([...old.keys(), ...now.keys()])) {
    const below = compareSameElement(schema.items, old.get(element) ?? [], now.get(element) ?? []);
    if (below !== undefined) collect(difference, element, below);
  }
  if (difference.changed === undefined && difference.removed === undefined) return undefined;
  return difference;
}

function byElement(schema: ListNode, list: readonly unknown[]): Map<string, unknown[]> {
  const items = new Map<string, unknown[]>();
  for (const item of list) {
    const element = itemElement(schema, item);
    const same = items.get(element);
    if (same === undefined) items.set(element, [item]);
    else same.push(item);
  }
  return items;
}

/** Ambiguous items count as one value, and become fields again when they are unique. */
function compareSameElement(
  schema: Schema,
  before: readonly unknown[],
  after: readonly unknown[],
): Difference | undefined {
  if (before.length <= 1 && after.length <= 1) return compareValues(schema, before[0], after[0]);
  if (before.length > 1 && after.length > 1) {
    return sameValue(before, after) ? undefined : wholeChanged;
  }
  if (before.length > 1) {
    const fresh = after.length === 0 ? undefined : compareValues(schema, undefined, after[0]);
    return { changed: fresh?.changed, removed: memberNode };
  }
  const gone = before.length === 0 ? undefined : compareValues(schema, before[0], undefined);
  return { changed: memberNode, removed: gone?.removed };
}
