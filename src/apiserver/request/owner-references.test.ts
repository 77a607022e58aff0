import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleService } from '../../kinds/service/example.ts';
import type { OwnerReference } from '../../meta/object.ts';
import { type WriteForm, withoutRepeatedOwners } from './owner-references.ts';

const first: OwnerReference = { apiVersion: 'v1', kind: 'Pod', name: 'a', uid: 'u1' };
const second: OwnerReference = { ...first, name: 'b' };

function outcome(ownerReferences: readonly OwnerReference[], form: WriteForm = 'body') {
  const warnings: string[] = [];
  const object = exampleService({ metadata: { ownerReferences } });
  const { metadata } = withoutRepeatedOwners(object, form, (text) => warnings.push(text));
  return { owners: metadata.ownerReferences, warnings };
}

const warning =
  '.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: u1, u1';

test('withoutRepeatedOwners() keeps the first of equal owners and warns of the others', () => {
  assert.deepEqual(outcome([first, second, first, second]), {
    owners: [first, second],
    warnings: [warning],
  });
});

test('withoutRepeatedOwners() has other words for a patch', () => {
  const { warnings } = outcome([first, first, first], 'patch');
  assert.deepEqual(warnings, [
    warning.replace('entries;', 'entries after mutating admission happens;'),
  ]);
});

test('withoutRepeatedOwners() leaves owners alone that differ in anything', () => {
  const owners = [first, second, { ...first, controller: true }];
  assert.deepEqual(outcome(owners), { owners, warnings: [] });
});
