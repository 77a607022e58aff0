import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoreEvent } from '../../storage/store.ts';
import { createNodePortView, nodePortKey, nodePortValue } from './node-port-view.ts';

const put = (key: string, value: Uint8Array, revision: number): StoreEvent => ({
  type: 'put',
  key,
  value,
  revision,
  createRevision: revision,
});

test('createNodePortView() follows the store, where each port has a key of its own (NPT-13, NPT-14)', () => {
  const view = createNodePortView();
  const key = nodePortKey(30001);
  view.load([{ key, value: nodePortValue('default/web'), revision: 5, createRevision: 5 }]);
  view.apply([put(nodePortKey(30002), nodePortValue('default/web'), 6)]);
  assert.deepEqual(view.find(30001), { service: 'default/web', revision: 5 });
  assert.deepEqual(view.ownedBy('default/web'), [30001, 30002]);

  view.apply([{ type: 'delete', key, revision: 7, createRevision: 5 }]);
  assert.equal(view.isTaken(30001), undefined);
  assert.deepEqual(view.ownedBy('default/web'), [30002]);
  assert.equal(view.count(), 1);
  assert.equal(view.firstFree(30001n, 30003n), 30001n);
  assert.equal(view.firstFree(30002n, 30003n), 30003n);
});

test('createNodePortView() moves a port to its new owner', () => {
  const view = createNodePortView();
  view.apply([put(nodePortKey(30001), nodePortValue('default/a'), 1)]);
  view.apply([put(nodePortKey(30001), nodePortValue('default/b'), 2)]);
  assert.deepEqual(view.ownedBy('default/a'), []);
  assert.deepEqual(view.find(30001), { service: 'default/b', revision: 2 });
});

test('createNodePortView() passes over other keys and keeps unreadable ports taken', () => {
  const view = createNodePortView();
  view.apply([
    put('/registry/services/default/web', nodePortValue('default/web'), 1),
    put('/registry/nodeports/x', nodePortValue('default/web'), 1),
    put(nodePortKey(30003), Buffer.from('not json'), 1),
  ]);
  assert.equal(view.count(), 1);
  assert.equal(view.isTaken(30003), '');
});

test('createNodePortView() is not set back by a listing that is older than its events', () => {
  const view = createNodePortView();
  const key = nodePortKey(30001);
  view.apply([{ type: 'delete', key, revision: 7, createRevision: 5 }]);
  view.load([{ key, value: nodePortValue('default/web'), revision: 5, createRevision: 5 }]);
  assert.equal(view.isTaken(30001), undefined);
});
