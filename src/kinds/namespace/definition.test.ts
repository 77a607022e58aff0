import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { decode } from '../../schema/decode.ts';
import { namespaceDefinition } from './definition.ts';
import { defaultNamespace, prepareNamespaceCreate, prepareNamespaceUpdate } from './prepare.ts';
import { type Namespace, namespaceSchema } from './types.ts';
import {
  validateNamespace,
  validateNamespaceFinalize,
  validateNamespaceStatus,
} from './validate.ts';

function namespace(fields: Readonly<Record<string, unknown>> = {}): Namespace {
  const raw = { metadata: { name: 'a' }, ...fields };
  return defaultNamespace(decode(namespaceSchema, raw).object as unknown as Namespace);
}

test('defaultNamespace() always sets the name label', () => {
  const labels = { 'kubernetes.io/metadata.name': 'other', k: 'v' };
  assert.deepEqual(namespace({ metadata: { name: 'a', labels } }).metadata.labels, {
    'kubernetes.io/metadata.name': 'a',
    k: 'v',
  });
  assert.deepEqual(namespace({ metadata: { generateName: 'a-' } }).metadata, {
    generateName: 'a-',
  });
});

test('prepareNamespaceCreate() adds the finalizer and makes the namespace Active', () => {
  const given = { spec: { finalizers: ['example.com/a'] }, status: { phase: 'Terminating' } };
  const created = prepareNamespaceCreate(namespace(given));
  assert.deepEqual(created.spec, { finalizers: ['example.com/a', 'kubernetes'] });
  assert.deepEqual(created.status, { phase: 'Active' });
  assert.deepEqual(prepareNamespaceCreate(created).spec, created.spec);
});

test('prepareNamespaceUpdate() keeps spec and status', () => {
  const before = prepareNamespaceCreate(namespace());
  const after = prepareNamespaceUpdate(before, namespace({ status: { phase: 'Terminating' } }));
  assert.deepEqual([after.spec, after.status], [before.spec, before.status]);
});

test('finalizers of the spec need a domain unless they are standard ones', () => {
  const detail = 'name is neither a standard finalizer name nor is it fully qualified';
  const wrong = namespace({ spec: { finalizers: ['kubernetes', 'foo', 'example.com/a'] } });
  assert.deepEqual(validateNamespace(wrong).map(errorText), [
    `spec.finalizers: Invalid value: "foo": ${detail}`,
  ]);
  assert.deepEqual(validateNamespaceFinalize(wrong).map(errorText), [
    `spec.finalizers[1]: Invalid value: "foo": ${detail}`,
  ]);
});

test('the phase follows the deletion timestamp', () => {
  const deleted = { name: 'a', deletionTimestamp: '2026-01-02T03:04:05Z' };
  assert.deepEqual(validateNamespaceStatus(namespace()), []);
  assert.deepEqual(validateNamespaceStatus(namespace({ metadata: deleted })).map(errorText), [
    'status.Phase: Invalid value: "Active": may only be \'Terminating\' if `deletionTimestamp` is not empty',
  ]);
  const early = namespace({ status: { phase: 'Terminating' } });
  assert.deepEqual(validateNamespaceStatus(early).map(errorText), [
    'status.Phase: Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is empty',
  ]);
});

test('namespaces cannot be deleted as a collection', () => {
  assert.ok(!namespaceDefinition.verbs?.includes('deletecollection'));
});
