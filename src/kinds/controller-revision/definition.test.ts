import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { decode } from '../../schema/decode.ts';
import { controllerRevisionDefinition } from './definition.ts';
import type { ControllerRevision } from './types.ts';

const make = (more: object): ControllerRevision =>
  decode(controllerRevisionDefinition.schema, { metadata: { name: 'r' }, revision: 1, ...more })
    .object as ControllerRevision;

const refused: readonly (readonly [string, object, readonly string[]])[] = [
  ['an object', { data: { a: 1 } }, []],
  ['no data', {}, ['data: Required value: data is mandatory']],
  ['a text', { data: 'x' }, ['data: Required value: data must be a valid JSON object']],
  ['a list', { data: [] }, ['data: Required value: data must be a valid JSON object']],
  [
    'a negative number',
    { data: {}, revision: -1 },
    ['revision: Invalid value: -1: must be greater than or equal to 0'],
  ],
];

for (const [title, more, want] of refused) {
  test(`validateCreate() of a revision with ${title}`, () => {
    const errors = controllerRevisionDefinition.create.validateCreate(make(more));
    assert.deepEqual(errors.map(errorText), want);
  });
}

test('validateUpdate() retains the data and lets the number change', () => {
  const { validateUpdate } = controllerRevisionDefinition.update;
  const before = make({ data: { a: 1 } });
  assert.deepEqual(validateUpdate(before, make({ data: { a: 1 }, revision: 7 })), []);
  assert.deepEqual(validateUpdate(before, make({ data: { a: 2 } })).map(errorText), [
    'data: Invalid value: {"a":2}: field is immutable',
  ]);
});

test('the column Controller names kind, group and name', () => {
  const ownerReferences = [
    { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'u', controller: true },
  ];
  const cells = [make({ metadata: { name: 'r', ownerReferences } }), make({})].map((revision) =>
    controllerRevisionDefinition.columns[1]?.cell(revision, 0),
  );
  assert.deepEqual(cells, ['statefulset.apps/web', '<none>']);
});
