import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimObjects } from './claim.ts';
import { selectorFromMap } from './labels.ts';
import type { KubeObject, ObjectMeta } from './object.ts';

const owner = object({ name: 'web', uid: 'web-uid' });
const selector = selectorFromMap({ app: 'web' });

function object(metadata: ObjectMeta): KubeObject {
  return { apiVersion: 'v1', kind: 'Thing', metadata: { namespace: 'a', ...metadata } };
}

const managedBy = (uid: string): ObjectMeta => ({
  ownerReferences: [{ apiVersion: 'v1', kind: 'Thing', name: 'web', uid, controller: true }],
});
const labels = { app: 'web' };
const going = { deletionTimestamp: '2026-01-01T00:00:00Z' };

const cases: readonly (readonly [string, ObjectMeta, ObjectMeta, string])[] = [
  ['keeps what it manages and selects', {}, { labels, ...managedBy('web-uid') }, 'owned'],
  ['lets go what it no longer selects', {}, managedBy('web-uid'), 'release'],
  ['takes over what nobody manages', {}, { labels }, 'adopt'],
  ['leaves what another manages', {}, { labels, ...managedBy('other') }, ''],
  ['leaves what it does not select', {}, { labels: { app: 'db' } }, ''],
  ['leaves another namespace alone', {}, { labels, namespace: 'b' }, ''],
  ['takes over nothing that is going', {}, { labels, ...going }, ''],
  ['takes over nothing when it goes itself', going, { labels }, ''],
  ['lets nothing go when it goes itself', going, managedBy('web-uid'), ''],
  ['keeps what it has when it goes itself', going, { labels, ...managedBy('web-uid') }, 'owned'],
];

for (const [title, ownerMeta, metadata, want] of cases) {
  test(`claimObjects() ${title}`, () => {
    const claiming = object({ ...owner.metadata, ...ownerMeta });
    const claims = claimObjects(claiming, selector, [object(metadata)]);
    const found = Object.entries(claims)
      .filter(([, objects]) => objects.length > 0)
      .map(([place]) => place);
    assert.equal(found.join(), want);
  });
}
