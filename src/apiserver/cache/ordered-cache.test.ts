import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOrderedCache, type OrderedCache } from './ordered-cache.ts';
import type { Cached } from './resource-cache.ts';

function entry(key: string, revision = 1): Cached {
  const object = { apiVersion: 'v1', kind: 'Service', metadata: { name: key } };
  return { key, revision, object, json: Buffer.alloc(0), prefixLength: 0, dropObject() {} };
}

const filled = (...keys: readonly string[]): OrderedCache => {
  const cache = createOrderedCache();
  for (const key of keys) cache.put(entry(key));
  return cache;
};

const keys = (cache: OrderedCache, prefix = '/r/'): readonly string[] =>
  cache.list(prefix).map((cached) => cached.key);

test('list() is in key order, however the objects came', () => {
  const cache = filled('/r/c', '/r/a', '/r/d', '/r/b');
  assert.deepEqual(keys(cache), ['/r/a', '/r/b', '/r/c', '/r/d']);
  for (const key of ['/r/e', '/r/bb', '/r/0']) cache.put(entry(key));
  assert.deepEqual(keys(cache), ['/r/0', '/r/a', '/r/b', '/r/bb', '/r/c', '/r/d', '/r/e']);
});

test('list() keeps to its prefix', () => {
  const cache = filled('/r/a/x', '/r/a/y', '/r/ab/x', '/r/b/x');
  assert.deepEqual(keys(cache, '/r/a/'), ['/r/a/x', '/r/a/y']);
  assert.deepEqual(keys(cache, '/r/c/'), []);
});

test('list() shows the newest state', () => {
  const cache = filled('/r/a', '/r/b');
  cache.list('/r/');
  cache.put(entry('/r/a', 2));
  assert.deepEqual(
    cache.list('/r/').map((cached) => cached.revision),
    [2, 1],
  );
  assert.equal(cache.get('/r/a')?.revision, 2);
});

test('drop() takes an object away, listed before or not', () => {
  const cache = filled('/r/a', '/r/b');
  cache.list('/r/');
  cache.put(entry('/r/c'));
  for (const key of ['/r/a', '/r/c', '/r/none']) cache.drop(key);
  assert.deepEqual(keys(cache), ['/r/b']);
  assert.equal(cache.get('/r/a'), undefined);
  assert.equal(cache.count(), 1);
});

test('an object that comes back after a drop is there once', () => {
  const cache = filled('/r/a', '/r/b');
  cache.list('/r/');
  cache.drop('/r/a');
  cache.put(entry('/r/a', 3));
  cache.drop('/r/a');
  cache.put(entry('/r/a', 4));
  assert.deepEqual(
    cache.list('/r/').map((cached) => `${cached.key} ${cached.revision}`),
    ['/r/a 4', '/r/b 1'],
  );
});

test('a list that was handed out stays as it was', () => {
  const cache = filled('/r/a');
  const before = cache.list('/r/');
  cache.put(entry('/r/b'));
  cache.drop('/r/a');
  cache.list('/r/');
  assert.deepEqual(
    before.map((cached) => cached.key),
    ['/r/a'],
  );
});

test('list() merges the runs of many thousand objects that come and go', () => {
  const cache = createOrderedCache();
  const present = new Set<string>();
  for (let step = 0; step < 30_000; step += 1) {
    // A permutation of the numbers below the prime.
    const key = `/r/${(step * 7919) % 50_021}`;
    cache.put(entry(key));
    present.add(key);
    if (step % 3 === 0) {
      const gone = `/r/${((step >> 1) * 7919) % 50_021}`;
      cache.drop(gone);
      present.delete(gone);
    }
    if (step % 11_000 === 10_999) assert.deepEqual(keys(cache), [...present].sort());
  }
  assert.deepEqual(keys(cache), [...present].sort());
});
