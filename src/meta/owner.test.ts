import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from './object.ts';
import { controllerOf, isOwnedBy, ownerReferenceTo } from './owner.ts';

const owner: KubeObject = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's', uid: 'u' } };
const other: KubeObject = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 's', uid: 'v' } };

test('ownerReferenceTo() makes a controller reference that controllerOf() finds', () => {
  const reference = ownerReferenceTo(owner);
  const owned: KubeObject = { ...other, metadata: { ownerReferences: [reference] } };
  assert.deepEqual(controllerOf(owned), {
    apiVersion: 'v1',
    kind: 'Service',
    name: 's',
    uid: 'u',
    controller: true,
    blockOwnerDeletion: true,
  });
  assert.equal(isOwnedBy(owned, owner), true);
  assert.equal(isOwnedBy(owned, other), false);
});

test('controllerOf() ignores owners that are not the controller', () => {
  const reference = { apiVersion: 'v1', kind: 'Service', name: 's', uid: 'u' };
  const owned: KubeObject = { ...other, metadata: { ownerReferences: [reference] } };
  assert.equal(controllerOf(owned), undefined);
  assert.equal(controllerOf(owner), undefined);
});
