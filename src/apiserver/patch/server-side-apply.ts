// Server-side apply. The order of things, as in upstream's structured-merge-diff:
//   1. the applied configuration is checked against the schema and laid over the live object;
//   2. fields that its manager applied last time, applies no longer and no other manager owns are removed;
//   3. what then differs from the live object and belongs to others is a conflict, or with force changes hands;
//   4. the manager owns exactly what it applied.
// Ownership follows from the configuration, never from defaults, so nothing has to be recorded after defaulting:
// the object that comes back carries its managedFields. Decode, default and write it; keepTimes() then undoes
// new times where nothing else changed.

import { badRequest } from '../../meta/api-error.ts';
import { kubectlManager } from '../../meta/field-managers.ts';
import { groupVersion, type KubeObject } from '../../meta/object.ts';
import { isJsonObject, type JsonObject } from '../../schema/json-object.ts';
import type { StructNode } from '../../schema/node.ts';
import { compareObjects, withoutUnowned } from './compare-objects.ts';
import { type Conflict, conflictError } from './conflict-error.ts';
import {
  difference,
  emptySet,
  type FieldSet,
  intersection,
  isEmptySet,
  printFieldSet,
  union,
  unionAll,
  withoutPath,
} from './fieldset.ts';
import { fieldsOf } from './from-object.ts';
import { field, jsonTypeName, sameValue } from './json-value.ts';
import { takenOverFields, withLastApplied } from './last-applied.ts';
import { isSameWriter, type Managed, readEntries, withEntries } from './managed-entries.ts';
import { type ResetFields, recordUpdate, resetFieldsOf } from './managed-fields.ts';
import { mergeTyped } from './merge-typed.ts';
import { removeFields, withNamedFields } from './remove-fields.ts';
import { typedErrors } from './typed-errors.ts';
import { zeroObject } from './typed-value.ts';

export type ApplyRequest = {
  /** Absent when the apply creates the object. */
  readonly live?: KubeObject;
  /** The body, parsed but not decoded: what it leaves out matters. */
  readonly applied: unknown;
  readonly schema: StructNode;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly manager: string;
  readonly force: boolean;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** RFC 3339, whole seconds. */
  readonly now: string;
  readonly resetFields?: ResetFields;
};

export function applyObject(request: ApplyRequest): { readonly object: unknown } {
  const steps = applySteps(request);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/**
 * The object to decode and write, as plain JSON, in steps after which others may go first. Throws ApiError 400 for what
 * cannot be applied, 409 for conflicts.
 */
export function* applySteps(
  request: ApplyRequest,
): Generator<undefined, { readonly object: unknown }> {
  const { schema, kind } = request;
  const applied = checkApplied(request);
  yield;
  const apiVersion = groupVersion(kind.group, kind.version);
  const live = request.live ?? emptyObject(request, apiVersion);
  const entries = entriesBefore(request, live, apiVersion);
  const resetFields = request.resetFields ?? resetFieldsOf(request.subresource);
  yield;
  const ownFields = resetFields.reduce(withoutPath, fieldsOf(schema, applied));
  yield;
  const fields = printFieldSet(ownFields);
  yield;
  const { manager, subresource } = request;
  const writer: Managed = { manager, operation: 'Apply', apiVersion, subresource, fields };
  const previous = entries.find((entry) => isSameWriter(entry, writer));
  const others = entries.filter((entry) => entry !== previous);

  const merged = mergeTyped(schema, live, applied) as JsonObject;
  yield;
  const all = unionAll([writer, ...others].map((entry) => entry.fields));
  yield;
  const object = yield* prune({
    schema,
    merged,
    previous: previous?.fields ?? emptySet,
    owned: all,
  });
  yield;
  const remaining = settle({ request, live, object, others, resetFields });
  yield;
  const owned = withoutUnowned(fields);
  const isChanged = !sameValue(object, live);
  const time = isChanged ? request.now : previous?.time;
  const own = isEmptySet(owned)
    ? []
    : [{ ...writer, fields: owned, ...(time === undefined ? {} : { time }) }];
  const noted = manager === kubectlManager ? withLastApplied(object, applied) : object;
  return { object: withEntries(noted as unknown as KubeObject, [...remaining, ...own]) };
}

function checkApplied({ applied, kind, schema }: ApplyRequest): JsonObject {
  const body = applied ?? {};
  if (!isJsonObject(body)) {
    throw badRequest(
      `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${jsonTypeName(body)} into Go value of type map[string]interface {}`,
    );
  }
  const given = kindText(body);
  if (given !== `${kind.group}/${kind.version}, Kind=${kind.kind}`) {
    throw badRequest(`invalid object type: ${given}`);
  }
  const metadata = field(body, 'metadata');
  if (isJsonObject(metadata) && Array.isArray(field(metadata, 'managedFields'))) {
    throw badRequest('metadata.managedFields must be nil');
  }
  const errors = typedErrors(schema, body);
  if (errors !== '') {
    const { namespace = '', name = '' } = (isJsonObject(metadata) ? metadata : {}) as Record<
      string,
      unknown
    >;
    throw badRequest(
      `failed to create typed patch object (${namespace}/${name}; ${given}): ${errors}`,
    );
  }
  return body;
}

/** `/v1, Kind=Service`; a version of more than two parts says nothing. */
function kindText(body: JsonObject): string {
  const [version, kind] = [field(body, 'apiVersion') ?? '', field(body, 'kind') ?? ''].map(String);
  const parts = (version ?? '').split('/');
  if (parts.length > 2) return '/, Kind=';
  const [group, short] = parts.length === 2 ? parts : ['', parts[0]];
  return `${group}/${short}, Kind=${kind}`;
}

function emptyObject({ schema, kind }: ApplyRequest, apiVersion: string): KubeObject {
  return { ...zeroObject(schema), kind: kind.kind, apiVersion } as unknown as KubeObject;
}

/** The fields of an untracked object belong to one common manager, so that applying to it can conflict. */
function entriesBefore(
  request: ApplyRequest,
  live: KubeObject,
  apiVersion: string,
): readonly Managed[] {
  const entries = readEntries(live.metadata.managedFields);
  if (entries.length > 0 || request.live === undefined) return entries;
  const { managedFields: _unreadable, ...metadata } = live.metadata;
  const { schema, subresource, now, resetFields } = request;
  const recorded = recordUpdate({
    after: { ...live, metadata },
    schema,
    manager: 'before-first-apply',
    subresource,
    apiVersion,
    now,
    ...(resetFields === undefined ? {} : { resetFields }),
  });
  return readEntries(recorded.metadata.managedFields);
}

type Pruning = {
  readonly schema: StructNode;
  readonly merged: JsonObject;
  /** What the manager applied last time. */
  readonly previous: FieldSet;
  /** What all managers own now, this manager's new configuration included. */
  readonly owned: FieldSet;
};

/**
 * Removes the fields that the manager gave up. First everything that it applied is removed, with all it contains; fields with
 * an owner are restored; and of the rest only what the manager itself had applied stays removed.
 */
function* prune({ schema, merged, previous, owned }: Pruning): Generator<undefined, JsonObject> {
  if (isEmptySet(previous)) return merged;
  const named = (set: FieldSet): FieldSet => withNamedFields(schema, set);
  const without = (set: FieldSet): JsonObject =>
    (removeFields(schema, merged, set) ?? {}) as JsonObject;
  const fieldsIn = (object: JsonObject): FieldSet => named(fieldsOf(schema, object));
  const all = fieldsIn(merged);
  yield;
  const last = named(previous);
  const stripped = fieldsIn(without(last));
  yield;
  const gone = difference(all, union(stripped, named(owned)));
  yield;
  const restored = fieldsIn(without(gone));
  yield;
  return without(intersection(difference(all, restored), last));
}

type Settling = {
  readonly request: ApplyRequest;
  readonly live: KubeObject;
  readonly object: JsonObject;
  readonly others: readonly Managed[];
  readonly resetFields: ResetFields;
};

/** The remaining fields of the other managers; throws a conflict where they would lose some without force. */
function settle({ request, live, object, others, resetFields }: Settling): readonly Managed[] {
  const { schema, force, manager } = request;
  const compared = compareObjects(schema, live as unknown as JsonObject, object);
  const changed = resetFields.reduce(withoutPath, compared.changed);
  const removed = resetFields.reduce(withoutPath, compared.removed);
  const conflicts = others.map(
    (entry): Conflict => ({ with: entry, fields: intersection(entry.fields, changed) }),
  );
  if (!force) {
    const agreed = manager === kubectlManager ? takenOverFields(schema, live) : emptySet;
    const open = conflicts.map((c) => ({ ...c, fields: difference(c.fields, agreed) }));
    if (open.some((c) => !isEmptySet(c.fields))) throw conflictError(open);
  }
  return others
    .map((entry) => ({ ...entry, fields: difference(difference(entry.fields, changed), removed) }))
    .filter((entry) => !isEmptySet(entry.fields));
}
