import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimsOf, desiredOwners, isStale } from './claims.ts';
import { claimOf, exampleStatefulSet, member } from './example.ts';

const template = { metadata: { name: 'data', labels: { x: 'y' } }, spec: { volumeMode: 'Block' } };
const setWith = (whenDeleted: string, whenScaled: string, replicas = 3) =>
  exampleStatefulSet({
    replicas,
    volumeClaimTemplates: [template],
    persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled },
  });

const reference = (kind: string, name: string, uid: string, controller = true) => ({
  apiVersion: kind === 'Pod' ? 'v1' : 'apps/v1',
  kind,
  name,
  uid,
  controller,
  blockOwnerDeletion: true,
});
const ofSet = reference('StatefulSet', 'web', 'web-uid');
const ofPod = reference('Pod', 'web-2', 'web-2');
const other = reference('Backup', 'nightly', 'b', false);
const foreign = reference('Backup', 'nightly', 'b');

/** With three pods web-2 stays; with one it is scaled down. `same`: nothing is written. */
const cases: readonly (readonly [
  string,
  ReturnType<typeof setWith>,
  readonly object[],
  readonly object[] | 'same',
])[] = [
  ['nothing to delete', setWith('Retain', 'Retain'), [], 'same'],
  ['a policy that was taken back', setWith('Retain', 'Retain'), [ofSet, other], [other]],
  ['deletion with the set', setWith('Delete', 'Retain'), [], [ofSet]],
  ['deletion with the set, done', setWith('Delete', 'Retain'), [ofSet], 'same'],
  ['deletion with the set, scaled down', setWith('Delete', 'Retain', 1), [], [ofSet]],
  ['deletion when scaled', setWith('Retain', 'Delete'), [], 'same'],
  ['deletion when scaled, scaled down', setWith('Retain', 'Delete', 1), [], [ofPod]],
  ['deletion in both cases', setWith('Delete', 'Delete'), [ofPod], [ofSet]],
  ['deletion in both cases, scaled down', setWith('Delete', 'Delete', 1), [ofSet], [ofPod]],
  ['an owner that does not control', setWith('Delete', 'Retain'), [other], [other, ofSet]],
  ['another controller', setWith('Delete', 'Retain'), [foreign], 'same'],
  [
    'a reference that does not control',
    setWith('Delete', 'Retain'),
    [{ ...ofSet, controller: false }],
    [ofSet],
  ],
  [
    'a reference to a former set of the name',
    setWith('Delete', 'Retain'),
    [reference('StatefulSet', 'web', 'former')],
    'same',
  ],
];

for (const [title, set, before, want] of cases) {
  test(`desiredOwners() with ${title}`, () => {
    const owners = desiredOwners(claimOf('data-web-2', before), { set, pod: member(2) });
    assert.deepEqual(owners ?? 'same', want);
  });
}

test('isStale() is for claims of a former pod that go with it', () => {
  const claim = claimOf('data-web-2', [reference('Pod', 'web-2', 'former')]);
  assert.equal(isStale(claim, { set: setWith('Retain', 'Delete'), pod: member(2) }), true);
  assert.equal(isStale(claim, { set: setWith('Retain', 'Retain'), pod: member(2) }), false);
  const own = claimOf('data-web-2', [ofPod]);
  assert.equal(isStale(own, { set: setWith('Retain', 'Delete'), pod: member(2) }), false);
});

test('claimsOf() takes the labels of the template and of the selector', () => {
  const [claim] = claimsOf(setWith('Retain', 'Retain'), member(1));
  assert.deepEqual(claim?.metadata, {
    name: 'data-web-1',
    namespace: 'default',
    labels: { x: 'y', app: 'web' },
  });
  assert.equal(claim?.spec.volumeMode, 'Block');
});
