// Who owns which field after a write.
//
// recordUpdate() is for creates, updates and every patch but apply. Upstream records before the storage layer
// fills in what it allocates, so it must see the object after decoding and defaulting, before allocation and
// preparation: defaults belong to the writer, as does a requested clusterIP; an allocated one has no owner.
// Applies are recorded by applyObject() from the applied configuration alone; see server-side-apply.ts.
import type { KubeObject } from '../../meta/object.ts';
import { deepEqual } from '../../schema/equality.ts';
import type { StructNode } from '../../schema/node.ts';
import { compareObjects } from './compare-objects.ts';
import { createdFields } from './created-fields.ts';
import { fieldsLeft, fieldsTaken } from './field-changes.ts';
import {
  difference,
  emptySet,
  type FieldSet,
  isEmptySet,
  printFieldSet,
  sameSet,
  union,
  withoutPath,
} from './fieldset.ts';
import { sameValue } from './json-value.ts';
import {
  capUpdates,
  type Entries,
  isSameWriter,
  type Managed,
  parseEntries,
  readEntries,
  type Writer,
  withEntries,
  withManagedFields,
  writerKey,
} from './managed-entries.ts';
import { isBare, zeroObject } from './typed-value.ts';

/** Paths of fields that a write of this resource or subresource cannot change, and so cannot own. */
export type ResetFields = readonly (readonly string[])[];

/** What most kinds reset: the main resource its status, the status all that is wanted. */
export function resetFieldsOf(subresource: string): ResetFields {
  if (subresource === '') return ofMain;
  return subresource === 'status' ? ofStatus : ofOthers;
}

const ofMain: ResetFields = [['status']];
const ofStatus: ResetFields = [['spec']];
const ofOthers: ResetFields = [];

export type UpdateRecord = {
  /** Absent when the object is created. */
  readonly before?: KubeObject;
  readonly after: KubeObject;
  readonly schema: StructNode;
  readonly manager: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  readonly apiVersion: string;
  /** RFC 3339, whole seconds. */
  readonly now: string;
  readonly resetFields?: ResetFields;
};

/** `after` with the entries that this write leaves. */
export function recordUpdate(record: UpdateRecord): KubeObject {
  const { before, after, schema } = record;
  const known = knownEntries(record);
  if (known === undefined) return withManagedFields(after, []);
  const reset = resetOf(record);
  if (before === undefined && !known.isEdited) return recordCreate(record, reset);
  const compared = compareObjects(schema, before ?? zeroObject(schema), after);
  const gained = reset.reduce(withoutPath, compared.changed);
  const lost = reset.reduce(withoutPath, compared.removed);
  if (isEmptySet(gained) && isEmptySet(lost)) return unchanged(record, known);
  return withEntries(after, afterUpdate({ entries: known.entries, gained, lost, record }));
}

/** The same for a large object, in steps with other requests in between. The caches for small ones would not help. */
export function* recordSteps(record: UpdateRecord): Generator<undefined, KubeObject> {
  const { before, after, schema, now: time } = record;
  const known = knownEntries(record);
  if (known === undefined) return withManagedFields(after, []);
  yield;
  const reset = resetOf(record);
  const compared = compareObjects(schema, before ?? zeroObject(schema), after);
  const gained = reset.reduce(withoutPath, compared.changed);
  const lost = reset.reduce(withoutPath, compared.removed);
  if (isEmptySet(gained) && isEmptySet(lost)) return unchanged(record, known);
  const writer = writerOf(record);
  const isGaining = !isEmptySet(gained);
  const kept: Managed[] = [];
  let own = emptySet;
  for (const entry of known.entries) {
    yield;
    const left = difference(difference(entry.fields, gained), lost);
    if (isEmptySet(left)) continue;
    if (isGaining && isSameWriter(entry, writer)) own = left;
    else kept.push({ ...entry, fields: left });
  }
  if (isGaining) {
    yield;
    const all = union(own, gained);
    yield;
    kept.push({ ...writer, time, fields: printFieldSet(all) });
  }
  yield;
  return withEntries(after, capUpdates(kept));
}

function resetOf({ subresource, resetFields = resetFieldsOf(subresource) }: UpdateRecord) {
  return resetFields;
}

type KnownEntries = {
  readonly entries: readonly Managed[];
  /** They are the client's own, in place of the stored ones. */
  readonly isEdited: boolean;
};

/** Undefined: tracking that was ended stays ended until the next apply. */
function knownEntries(record: UpdateRecord): KnownEntries | undefined {
  const { before } = record;
  const stored = before?.metadata.managedFields ?? [];
  const edited = editedEntries(record, stored);
  const entries = edited ?? readEntries(stored);
  if (entries.length === 0 && before?.metadata.uid !== undefined) return undefined;
  return { entries, isEdited: edited !== undefined };
}

function unchanged({ before, after }: UpdateRecord, known: KnownEntries): KubeObject {
  return known.isEdited
    ? withEntries(after, known.entries)
    : withManagedFields(after, before?.metadata.managedFields ?? []);
}

function recordCreate(record: UpdateRecord, reset: ResetFields): KubeObject {
  const { after: object, schema, now: time } = record;
  const fields = createdFields({ schema, object, reset });
  if (isEmptySet(fields)) return withManagedFields(object, []);
  const { manager, operation, apiVersion, subresource } = writerOf(record);
  // In one piece: this runs on every create.
  return withEntries(object, [{ manager, operation, apiVersion, subresource, time, fields }]);
}

function writerOf({ manager, apiVersion, subresource }: UpdateRecord): Writer {
  return { manager: manager || 'unknown', operation: 'Update', apiVersion, subresource };
}

type Update = {
  readonly entries: readonly Managed[];
  readonly gained: FieldSet;
  readonly lost: FieldSet;
  readonly record: UpdateRecord;
};

function afterUpdate({ entries, gained, lost, record }: Update): readonly Managed[] {
  const writer = writerOf(record);
  const isGaining = !isEmptySet(gained);
  const gone = isEmptySet(lost) ? '' : JSON.stringify(lost);
  const taken = { gained, lost, key: JSON.stringify(gained) + gone };
  const kept: Managed[] = [];
  let own = emptySet;
  for (const entry of entries) {
    const fields = fieldsLeft(entry.fields, taken);
    if (isEmptySet(fields)) continue;
    if (isGaining && isSameWriter(entry, writer)) own = entry.fields;
    else kept.push(fields === entry.fields ? entry : { ...entry, fields });
  }
  if (isGaining) {
    const { manager, operation, apiVersion, subresource } = writer;
    const fields = fieldsTaken(own, taken);
    kept.push({ manager, operation, apiVersion, subresource, time: record.now, fields });
  }
  return capUpdates(kept);
}

/**
 * The entries that the client sent in place of the stored ones, which it may edit on the object itself; one
 * empty entry ends tracking. Nothing when it sent none, unreadable ones or those that are stored anyway.
 */
function editedEntries(
  { after, subresource }: UpdateRecord,
  stored: Entries,
): readonly Managed[] | undefined {
  const sent = after.metadata.managedFields;
  if (subresource !== '' || sent === undefined || sent === stored) return undefined;
  if (isReset(sent)) return [];
  if (sameValue(sent, stored)) return undefined;
  const entries = parseEntries(sent);
  return entries?.length === 0 ? undefined : entries;
}

const isReset = (entries: Entries): boolean =>
  entries.length === 0 || (entries.length === 1 && isBare(entries[0]));

/**
 * An empty list in a body ends tracking like a list with one empty entry, but the canonical form of an object
 * has no empty lists: this copies the reset from the body to the object that was decoded from it.
 */
export function keepReset(body: unknown, object: KubeObject): KubeObject {
  const { metadata } = (body ?? {}) as { readonly metadata?: { readonly managedFields?: unknown } };
  const sent = metadata?.managedFields;
  if (!Array.isArray(sent) || sent.length > 0) return object;
  return { ...object, metadata: { ...object.metadata, managedFields: [{}] } };
}

/**
 * A write that changes nothing but the times of entries changes nothing: the entries of `before` stay. For
 * applies, after decoding and defaulting; recordUpdate() takes no new time without a change.
 */
export function keepTimes(before: KubeObject, after: KubeObject): KubeObject {
  const [old, now] = [before.metadata.managedFields, after.metadata.managedFields];
  if (old === undefined || !differOnlyInTime(readEntries(old), readEntries(now))) return after;
  const kept = withManagedFields(after, old);
  return deepEqual(kept, before) ? kept : after;
}

function differOnlyInTime(before: readonly Managed[], after: readonly Managed[]): boolean {
  if (before.length !== after.length) return false;
  const found = new Map(after.map((entry) => [writerKey(entry), entry]));
  return before.every((old) => {
    const now = found.get(writerKey(old));
    return now?.apiVersion === old.apiVersion && sameSet(now.fields, old.fields);
  });
}
