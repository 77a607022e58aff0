import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleBackend, selectingService } from './example-backends.ts';
import { followPods } from './follow-pods.ts';

function start() {
  const told: string[] = [];
  const follow = followPods({
    serviceChanged: (key) => told.push(`service ${key}`),
    podsChanged: (key) => told.push(`pods ${key}`),
  });
  follow.services.add(selectingService());
  told.length = 0;
  return { follow, told };
}

test('followPods() tells of services that come, change and go', () => {
  const { follow, told } = start();
  follow.services.update(selectingService(), selectingService({ spec: { selector: { a: 'b' } } }));
  follow.services.delete(selectingService());
  follow.pods.add(exampleBackend('p'));
  assert.deepEqual(told, ['service default/web', 'service default/web']);
});

test('followPods() tells of pods that come and go with an address', () => {
  const { follow, told } = start();
  follow.pods.add(exampleBackend('p', { ips: [] }));
  follow.pods.add(exampleBackend('q', { labels: { app: 'other' } }));
  assert.deepEqual(told, []);
  follow.pods.add(exampleBackend('p'));
  follow.pods.delete(exampleBackend('p'));
  assert.deepEqual(told, ['pods default/web', 'pods default/web']);
});

test('followPods() tells once of a change, also to the service that a pod leaves', () => {
  const { follow, told } = start();
  follow.pods.update(exampleBackend('p'), exampleBackend('p', { ready: false }));
  assert.deepEqual(told, ['pods default/web']);
  follow.pods.update(exampleBackend('p'), exampleBackend('p', { labels: { app: 'other' } }));
  assert.deepEqual(told, ['pods default/web', 'pods default/web']);
  follow.pods.update(exampleBackend('p'), exampleBackend('p'));
  assert.equal(told.length, 2);
});
