import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigMap } from '../kinds/config-map/types.ts';
import { exampleConfigMap } from './example.ts';
import { createLocalStore } from './local-store.ts';
import { byNamespace } from './shared-indexes.ts';

const names = (objects: readonly ConfigMap[]): readonly string[] =>
  objects.map(({ metadata }) => metadata.name ?? '').sort();

test('createLocalStore() finds objects by key and index', () => {
  const store = createLocalStore<ConfigMap>({ namespace: byNamespace });
  store.set(exampleConfigMap('x'));
  store.set(exampleConfigMap('y'));
  store.set(exampleConfigMap('x', { namespace: 'b' }));
  assert.equal(store.size(), 3);
  assert.equal(store.get('b/x')?.metadata.namespace, 'b');
  assert.deepEqual(names(store.select('namespace', 'a')), ['x', 'y']);
  assert.deepEqual(store.select('namespace', 'c'), []);
});

test('set() and remove() update the indexes', () => {
  const store = createLocalStore<ConfigMap>({
    app: ({ metadata }) => Object.values(metadata.labels ?? {}),
  });
  store.set(exampleConfigMap('x', { labels: { app: 'old', more: 'both' } }));
  const before = store.set(exampleConfigMap('x', { labels: { app: 'new' } }));
  assert.equal(before?.metadata.labels?.app, 'old');
  assert.deepEqual(store.select('app', 'old'), []);
  assert.deepEqual(store.select('app', 'both'), []);
  assert.deepEqual(names(store.select('app', 'new')), ['x']);
  assert.equal(store.remove('a/x')?.metadata.name, 'x');
  assert.equal(store.remove('a/x'), undefined);
  assert.deepEqual(store.select('app', 'new'), []);
});

test('addIndex() covers present objects', () => {
  const store = createLocalStore<ConfigMap>();
  store.set(exampleConfigMap('x'));
  store.addIndex('namespace', byNamespace);
  assert.deepEqual(names(store.select('namespace', 'a')), ['x']);
  assert.throws(() => store.select('nope', 'a'), /no such index/);
});

test('addIndex() accepts the same function again, and rejects another one', () => {
  const store = createLocalStore<ConfigMap>({ namespace: byNamespace });
  store.addIndex('namespace', byNamespace);
  store.set(exampleConfigMap('x'));
  assert.throws(() => store.addIndex('namespace', () => []), /Cannot add index "namespace"/);
  assert.deepEqual(names(store.select('namespace', 'a')), ['x']);
});
