// Validates common metadata, on create and update.

import { deepEqual } from '../schema/equality.ts';
import { goQuote } from '../schema/go-quote.ts';
import { validateAnnotations } from './annotations.ts';
import { contains } from './contains.ts';
import { type FieldError, forbidden, invalid, joined, required, tooLong } from './field-error.ts';
import { foregroundFinalizer, kubernetesFinalizer, orphanFinalizer } from './finalizers.ts';
import { validateLabels } from './labels.ts';
import { dns1123Label, qualifiedName } from './names.ts';
import type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from './object.ts';

type NewMeta = {
  readonly meta: ObjectMeta;
  readonly namespaced: boolean;
  /** Messages for an invalid name; `prefix` is true for generateName. */
  readonly nameRule: (name: string, prefix: boolean) => readonly string[];
  readonly field?: string;
};

const immutableText = 'field is immutable';
const standardFinalizers = [kubernetesFinalizer, orphanFinalizer, foregroundFinalizer];
const maxFieldManagerLength = 128;
const maxSubresourceLength = 256;

/** For a new object, after its name was generated. */
export function validateObjectMeta({
  meta,
  namespaced,
  nameRule,
  field = 'metadata',
}: NewMeta): readonly FieldError[] {
  const { generateName = '', name = '', generation = 0 } = meta;
  return joined([
    generateName === ''
      ? []
      : nameRule(generateName, true).map((text) =>
          invalid(`${field}.generateName`, generateName, text),
        ),
    name === ''
      ? [required(`${field}.name`, 'name or generateName is required')]
      : nameRule(name, false).map((text) => invalid(`${field}.name`, name, text)),
    validateNamespace(meta.namespace ?? '', namespaced, `${field}.namespace`),
    generation < 0
      ? [invalid(`${field}.generation`, generation, 'must be greater than or equal to 0')]
      : [],
    validateLabels(meta.labels, `${field}.labels`),
    validateAnnotations(meta.annotations, `${field}.annotations`),
    validateOwnerReferences(meta.ownerReferences, `${field}.ownerReferences`),
    validateFinalizers(meta.finalizers, `${field}.finalizers`),
    validateManagedFields(meta.managedFields, `${field}.managedFields`),
    validateFinalizerOwners(meta.finalizers, `${field}.finalizers`),
  ]);
}

const fixedFields = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const;
/** What messages show for an absent value. */
const emptyTexts: ReadonlySet<string> = new Set(['name', 'namespace', 'uid']);

function fixedErrors(before: ObjectMeta, after: ObjectMeta, field: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const key of fixedFields) {
    if (before[key] === after[key]) continue;
    const zero = emptyTexts.has(key) ? '' : undefined;
    errors.push(...validateImmutable(before[key] ?? zero, after[key] ?? zero, `${field}.${key}`));
  }
  return errors;
}

/** For an update, after server-owned fields were restored. */
export function validateObjectMetaUpdate(
  before: ObjectMeta,
  after: ObjectMeta,
  field = 'metadata',
): readonly FieldError[] {
  return joined([
    before.deletionTimestamp === undefined
      ? []
      : validateNoNewFinalizers(before.finalizers, after.finalizers, `${field}.finalizers`),
    (after.generation ?? 0) < (before.generation ?? 0)
      ? [invalid(`${field}.generation`, after.generation ?? 0, 'must not be decremented')]
      : [],
    fixedErrors(before, after, field),
    validateLabels(after.labels, `${field}.labels`),
    validateAnnotations(after.annotations, `${field}.annotations`),
    validateOwnerReferences(after.ownerReferences, `${field}.ownerReferences`),
    validateManagedFields(after.managedFields, `${field}.managedFields`),
    validateFinalizers(after.finalizers, `${field}.finalizers`),
    validateFinalizerOwners(after.finalizers, `${field}.finalizers`),
  ]);
}

/** An immutable field: the error shows the new value. */
function validateImmutable(before: unknown, after: unknown, field: string): FieldError[] {
  return deepEqual(before, after) ? [] : [invalid(field, after, immutableText)];
}

function validateOwnerReferences(
  references: readonly OwnerReference[] | undefined,
  field: string,
): FieldError[] {
  if (references === undefined) return [];
  let controller: string | undefined;
  return references.flatMap((reference) => {
    const errors = validateOwnerReference(reference, field);
    if (reference.controller !== true) return errors;
    const name = `${reference.kind}/${reference.name}`;
    if (controller === undefined) {
      controller = name;
      return errors;
    }
    const text = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`;
    return [...errors, invalid(field, references, text)];
  });
}

function validateOwnerReference(reference: OwnerReference, field: string): FieldError[] {
  const { apiVersion, kind, name, uid } = reference;
  const parts = apiVersion.split('/');
  const version = parts.length > 2 ? '' : parts.at(-1);
  const errors: FieldError[] = [];
  if (version === '') {
    errors.push(invalid(`${field}.apiVersion`, apiVersion, 'version must not be empty'));
  }
  for (const [key, value] of Object.entries({ kind, name, uid })) {
    if (value === '') errors.push(invalid(`${field}.${key}`, value, 'must not be empty'));
  }
  // Upstream rejects this owner by name: events are too many to own anything.
  if (apiVersion === 'v1' && kind === 'Event') {
    errors.push(invalid(field, reference, '/v1, Kind=Event is disallowed from being an owner'));
  }
  return errors;
}

/** The form of finalizers; `orphan` and `foregroundDeletion` exclude each other. */
function validateFinalizers(
  finalizers: readonly string[] | undefined,
  field: string,
): FieldError[] {
  if (finalizers === undefined) return [];
  const list = finalizers;
  const errors = list.flatMap((name) =>
    qualifiedName(name).map((text) => invalid(field, name, text)),
  );
  if (list.includes(orphanFinalizer) && list.includes(foregroundFinalizer)) {
    const text = 'finalizer orphan and foregroundDeletion cannot be both set';
    errors.push(invalid(field, list, text));
  }
  return errors;
}

/** A standard finalizer, or a qualified name. */
function validateFinalizerOwners(
  finalizers: readonly string[] | undefined,
  field: string,
): FieldError[] {
  return (finalizers ?? []).flatMap((name, index) =>
    name.includes('/') || standardFinalizers.includes(name)
      ? []
      : [
          invalid(
            `${field}[${index}]`,
            name,
            'name is neither a standard finalizer name nor is it fully qualified',
          ),
        ],
  );
}

function validateNoNewFinalizers(
  before: readonly string[] = [],
  after: readonly string[] = [],
  field: string,
): FieldError[] {
  const added = [...new Set(after)].filter((name) => !contains(before, name)).sort();
  if (added.length === 0) return [];
  const list = added.map((name) => goQuote(name)).join(', ');
  const text = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`;
  return [forbidden(field, text)];
}

function validateNamespace(namespace: string, namespaced: boolean, field: string): FieldError[] {
  if (!namespaced) {
    return namespace === '' ? [] : [forbidden(field, 'not allowed on this type')];
  }
  if (namespace === '') return [required(field)];
  return dns1123Label(namespace).map((text) => invalid(field, namespace, text));
}

function validateManagedFields(
  entries: readonly ManagedFieldsEntry[] | undefined,
  field: string,
): FieldError[] {
  const errors: FieldError[] = [];
  entries?.forEach((entry, index) => {
    if (!isPlainEntry(entry)) errors.push(...managedFieldsErrors(entry, `${field}[${index}]`));
  });
  return errors;
}

/** The common case: valid without further checks. */
function isPlainEntry({
  operation,
  fieldsType,
  manager = '',
  subresource = '',
}: ManagedFieldsEntry): boolean {
  const isKnown = operation === 'Update' || operation === 'Apply';
  return isKnown && fieldsType === 'FieldsV1' && subresource === '' && plainManager.test(manager);
}

function managedFieldsErrors(entry: ManagedFieldsEntry, at: string): FieldError[] {
  const { operation = '', fieldsType = '', manager = '', subresource = '' } = entry;
  const errors: FieldError[] = [];
  if (operation !== 'Apply' && operation !== 'Update') {
    errors.push(invalid(`${at}.operation`, operation, 'must be `Apply` or `Update`'));
  }
  if (fieldsType !== '' && fieldsType !== 'FieldsV1') {
    errors.push(invalid(`${at}.fieldsType`, fieldsType, 'must be `FieldsV1`'));
  }
  errors.push(...validateFieldManager(manager, `${at}.manager`));
  if (Buffer.byteLength(subresource) > maxSubresourceLength) {
    errors.push(tooLong(`${at}.subresource`, maxSubresourceLength));
  }
  return errors;
}

/** Also validates the query parameter of the same name. */
export function validateFieldManager(manager: string, field: string): FieldError[] {
  if (plainManager.test(manager)) return [];
  const errors: FieldError[] = [];
  if (Buffer.byteLength(manager) > maxFieldManagerLength) {
    errors.push(tooLong(field, maxFieldManagerLength));
  }
  let position = 0;
  for (const char of manager) {
    if (!isPrintable(char)) {
      const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      errors.push(invalid(field, manager, `invalid character U+${code} (at position ${position})`));
    }
    position += Buffer.byteLength(char);
  }
  return errors;
}

/** A fast check: all rules below accept these. */
const plainManager = /^[ -~]{0,128}$/;

/** Go's unicode.IsPrint: letters, marks, numbers, punctuation, symbols, and the ASCII space. */
function isPrintable(char: string): boolean {
  return char === ' ' || /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(char);
}
