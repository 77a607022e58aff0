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
  ['owns objects it controls and selects', {}, { labels, ...managedBy('web-uid') }, 'owned'],
  ['releases objects it no longer selects', {}, managedBy('web-uid'), 'release'],
  ['adopts objects without a controller', {}, { labels }, 'adopt'],
  ['ignores objects of another controller', {}, { labels, ...managedBy('other') }, ''],
  ['ignores objects it does not select', {}, { labels: { app: 'db' } }, ''],
  ['ignores objects of another namespace', {}, { labels, namespace: 'b' }, ''],
  ['adopts no object that is being deleted', {}, { labels, ...going }, ''],
  ['adopts nothing when it is being deleted', going, { labels }, ''],
  ['releases nothing when it is being deleted', going, managedBy('web-uid'), ''],
  [
    'still owns its objects when it is being deleted',
    going,
    { labels, ...managedBy('web-uid') },
    'owned',
  ],
];

for (const [title, ownerMeta, metadata, want] of cases) {
  test(`claimObjects() ${title}`, () => {
    const claiming = object({ ...owner.metadata, ...ownerMeta });
    const claims = claimObjects(claiming, selector, [object(metadata)]);
    const found = Object.entries(claims)
      .filter(([, objects]) => objects.length > 0)
      .map(([claim]) => claim);
    assert.equal(found.join(), want);
  });
}
