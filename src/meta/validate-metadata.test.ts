import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from './field-error.ts';
import { nameIsDnsLabel } from './names.ts';
import type { ObjectMeta } from './object.ts';
import {
  validateFieldManager,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from './validate-metadata.ts';

function created(meta: ObjectMeta, namespaced = true): string[] {
  return validateObjectMeta({ meta, namespaced, nameRule: nameIsDnsLabel }).map(errorText);
}

function updated(before: ObjectMeta, after: ObjectMeta): string[] {
  return validateObjectMetaUpdate(before, after).map(errorText);
}

const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: '1' };
const good: ObjectMeta = { name: 'a', namespace: 'n' };
const namePart =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const creations: readonly (readonly [string, ObjectMeta, readonly string[]])[] = [
  ['a valid object', good, []],
  [
    'no name',
    { namespace: 'n' },
    ['metadata.name: Required value: name or generateName is required'],
  ],
  ['no namespace', { name: 'a' }, ['metadata.namespace: Required value']],
  ['a generated name', { ...good, generateName: 'web-' }, []],
  [
    'a negative generation',
    { ...good, generation: -1 },
    ['metadata.generation: Invalid value: -1: must be greater than or equal to 0'],
  ],
  ['annotation keys in any case', { ...good, annotations: { 'Example.com/UPPER': '\n{}' } }, []],
  [
    'a bad annotation key',
    { ...good, annotations: { 'a b': '' } },
    [`metadata.annotations: Invalid value: "a b": ${namePart}`],
  ],
  [
    'too large annotations',
    { ...good, annotations: { a: 'é'.repeat(131072) } },
    ['metadata.annotations: Too long: may not be more than 262144 bytes'],
  ],
  [
    'an unqualified finalizer',
    { ...good, finalizers: ['example.com/ok', 'foo'] },
    [
      'metadata.finalizers[1]: Invalid value: "foo": name is neither a standard finalizer name nor is it fully qualified',
    ],
  ],
  [
    'an empty finalizer',
    { ...good, finalizers: [''] },
    [
      'metadata.finalizers: Invalid value: "": name part must be non-empty',
      `metadata.finalizers: Invalid value: "": ${namePart}`,
      'metadata.finalizers[0]: Invalid value: "": name is neither a standard finalizer name nor is it fully qualified',
    ],
  ],
  [
    'both finalizers about dependents',
    { ...good, finalizers: ['orphan', 'foregroundDeletion'] },
    [
      'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
    ],
  ],
  ['an owner', { ...good, ownerReferences: [owner] }, []],
  [
    'an empty owner',
    { ...good, ownerReferences: [{ apiVersion: '', kind: '', name: '', uid: '' }] },
    [
      'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
      'metadata.ownerReferences.kind: Invalid value: "": must not be empty',
      'metadata.ownerReferences.name: Invalid value: "": must not be empty',
      'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
    ],
  ],
  [
    'an owner of a bad version',
    { ...good, ownerReferences: [{ ...owner, apiVersion: 'a/b/c' }] },
    ['metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty'],
  ],
  [
    'an event as owner',
    { ...good, ownerReferences: [{ ...owner, kind: 'Event' }] },
    [
      'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"a","uid":"1"}: /v1, Kind=Event is disallowed from being an owner',
    ],
  ],
  [
    'two controllers',
    {
      ...good,
      ownerReferences: [
        { ...owner, controller: true },
        { ...owner, name: 'b', controller: true },
      ],
    },
    [
      'metadata.ownerReferences: Invalid value: [{"apiVersion":"v1","kind":"ConfigMap","name":"a","uid":"1","controller":true},{"apiVersion":"v1","kind":"ConfigMap","name":"b","uid":"1","controller":true}]: Only one reference can have Controller set to true. Found "true" in references for ConfigMap/a and ConfigMap/b',
    ],
  ],
  [
    'bad managed fields',
    { ...good, managedFields: [{ operation: 'x', fieldsType: 'y', manager: 'a\nb' }] },
    [
      'metadata.managedFields[0].operation: Invalid value: "x": must be `Apply` or `Update`',
      'metadata.managedFields[0].fieldsType: Invalid value: "y": must be `FieldsV1`',
      'metadata.managedFields[0].manager: Invalid value: "a\\nb": invalid character U+000A (at position 1)',
    ],
  ],
];

for (const [name, meta, expected] of creations) {
  test(`validateObjectMeta() with ${name}`, () => assert.deepEqual(created(meta), expected));
}

test('validateObjectMeta() refuses a namespace where the kind has none', () => {
  assert.deepEqual(created({ name: 'a' }, false), []);
  assert.deepEqual(created(good, false), [
    'metadata.namespace: Forbidden: not allowed on this type',
  ]);
});

test('validateObjectMeta() checks generateName as a prefix', () => {
  assert.equal(created({ ...good, generateName: 'Web-' }).length, 1);
});

const stored: ObjectMeta = { ...good, uid: 'u', generation: 2, creationTimestamp: 't' };
const deleting: ObjectMeta = { ...stored, deletionTimestamp: 'd', finalizers: ['x.io/a'] };

const updates: readonly (readonly [string, ObjectMeta, ObjectMeta, readonly string[]])[] = [
  ['nothing', stored, stored, []],
  [
    'the uid',
    stored,
    { ...stored, uid: 'v' },
    ['metadata.uid: Invalid value: "v": field is immutable'],
  ],
  [
    'the name',
    stored,
    { ...stored, name: 'b' },
    ['metadata.name: Invalid value: "b": field is immutable'],
  ],
  [
    'the deletion time',
    stored,
    { ...stored, deletionTimestamp: '2001-01-01T00:00:00Z' },
    ['metadata.deletionTimestamp: Invalid value: "2001-01-01T00:00:00Z": field is immutable'],
  ],
  [
    'the grace period',
    stored,
    { ...stored, deletionGracePeriodSeconds: 5 },
    ['metadata.deletionGracePeriodSeconds: Invalid value: 5: field is immutable'],
  ],
  [
    'the generation downwards',
    stored,
    { ...stored, generation: 1 },
    ['metadata.generation: Invalid value: 1: must not be decremented'],
  ],
  ['generateName', stored, { ...stored, generateName: 'Any_' }, []],
  ['a finalizer away while deleting', deleting, { ...deleting, finalizers: [] }, []],
  [
    'finalizers added while deleting',
    deleting,
    { ...deleting, finalizers: ['x.io/c', 'x.io/a', 'x.io/b'] },
    [
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x.io/b", "x.io/c"}',
    ],
  ],
  [
    'labels to bad ones',
    stored,
    { ...stored, labels: { 'a b': '' } },
    [`metadata.labels: Invalid value: "a b": ${namePart}`],
  ],
];

for (const [name, before, after, expected] of updates) {
  test(`validateObjectMetaUpdate() that changes ${name}`, () =>
    assert.deepEqual(updated(before, after), expected));
}

test('validateFieldManager() limits length and requires printable characters', () => {
  assert.deepEqual(validateFieldManager('kubectl édition', 'fieldManager'), []);
  assert.deepEqual(validateFieldManager('x'.repeat(129), 'fieldManager').map(errorText), [
    'fieldManager: Too long: may not be more than 128 bytes',
  ]);
});
