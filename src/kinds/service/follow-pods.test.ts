import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleBackend, selectingService } from './example-backends.ts';
import { followPods } from './follow-pods.ts';

function start() {
  const reported: string[] = [];
  const follow = followPods({
    serviceChanged: (key) => reported.push(`service ${key}`),
    podsChanged: (key) => reported.push(`pods ${key}`),
  });
  follow.services.add(selectingService());
  reported.length = 0;
  return { follow, reported };
}

test('followPods() reports added, changed and deleted Services', () => {
  const { follow, reported } = start();
  follow.services.update(selectingService(), selectingService({ spec: { selector: { a: 'b' } } }));
  follow.services.delete(selectingService());
  follow.pods.add(exampleBackend('p'));
  assert.deepEqual(reported, ['service default/web', 'service default/web']);
});

test('followPods() reports added and deleted pods with an address', () => {
  const { follow, reported } = start();
  follow.pods.add(exampleBackend('p', { ips: [] }));
  follow.pods.add(exampleBackend('q', { labels: { app: 'other' } }));
  assert.deepEqual(reported, []);
  follow.pods.add(exampleBackend('p'));
  follow.pods.delete(exampleBackend('p'));
  assert.deepEqual(reported, ['pods default/web', 'pods default/web']);
});

test('followPods() reports a change once, also for the Service that no longer selects the pod', () => {
  const { follow, reported } = start();
  follow.pods.update(exampleBackend('p'), exampleBackend('p', { ready: false }));
  assert.deepEqual(reported, ['pods default/web']);
  follow.pods.update(exampleBackend('p'), exampleBackend('p', { labels: { app: 'other' } }));
  assert.deepEqual(reported, ['pods default/web', 'pods default/web']);
  follow.pods.update(exampleBackend('p'), exampleBackend('p'));
  assert.equal(reported.length, 2);
});
