// Reads.
import assert from 'node:assert/strict';
import { keysOf, type On, put, readable, refuses, remove } from './subject.contract.ts';

export function getCases(on: On): void {
  on('returns undefined in a new store, which is at a revision above 0', async ({ store }) => {
    assert.equal(await store.get('/a'), undefined);
    assert.ok((await store.currentRevision()) > 0);
    assert.equal(store.compactedRevision(), await store.currentRevision());
  });
  on('returns the value with its revisions', async ({ store }) => {
    const first = await put(store, '/a', 'one');
    const second = await put(store, '/a', 'two');
    assert.deepEqual(await store.get('/a').then(readable), ['/a', 'two', second, first]);
  });
  on('returns the value as of a revision', async ({ store }) => {
    const before = await store.currentRevision();
    const first = await put(store, '/a', 'one');
    const second = await put(store, '/a', 'two');
    const removed = await remove(store, '/a');
    assert.equal(await store.get('/a', { revision: before }), undefined);
    const atFirst = await store.get('/a', { revision: first });
    assert.deepEqual(readable(atFirst), ['/a', 'one', first, first]);
    const atSecond = await store.get('/a', { revision: second });
    assert.deepEqual(readable(atSecond), ['/a', 'two', second, first]);
    assert.equal(await store.get('/a', { revision: removed }), undefined);
    assert.equal(await store.get('/a'), undefined);
  });
  on('refuses a revision that is not reached', async ({ store }) => {
    const revision = (await store.currentRevision()) + 1;
    await refuses(store.get('/a', { revision }), 'future');
  });
  on('stores any bytes, none and many', async ({ store }) => {
    const every = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const values = [new Uint8Array(0), every, new Uint8Array(1_300_000).fill(7)];
    for (const value of values) {
      await store.transact({ compare: [], write: [{ put: '/a', value }] });
      const found = await store.get('/a');
      assert.ok(found !== undefined && Buffer.from(value).equals(found.value));
    }
  });
}

export function listCases(on: On): void {
  on('returns the keys with the prefix in byte order', async ({ store }) => {
    const keys = [
      '/b',
      '/a/b',
      '/a',
      '/a/',
      '/a/😀',
      '/a/\uff5e',
      '/a/b/c',
      '/a0',
      '/a/é',
      '/a/bc',
    ];
    for (const key of keys) await put(store, key, 'x');
    const wanted = ['/a/', '/a/b', '/a/b/c', '/a/bc', '/a/é', '/a/\uff5e', '/a/😀'];
    const listing = await store.list('/a/');
    assert.deepEqual(keysOf(listing.entries), wanted);
    assert.equal(listing.more, false);
    assert.equal(listing.revision, await store.currentRevision());
    assert.deepEqual((await store.list('')).entries.length, keys.length);
    assert.deepEqual((await store.list('/c')).entries, []);
  });
  on('continues after a key, up to a limit', async ({ store }) => {
    for (const key of ['/a/1', '/a/2', '/a/3', '/b/1']) await put(store, key, key);
    const first = await store.list('/a/', { limit: 2 });
    assert.deepEqual([keysOf(first.entries), first.more], [['/a/1', '/a/2'], true]);
    const rest = await store.list('/a/', { limit: 2, after: '/a/2' });
    assert.deepEqual([keysOf(rest.entries), rest.more], [['/a/3'], false]);
    const exact = await store.list('/a/', { limit: 3 });
    assert.deepEqual([exact.entries.length, exact.more], [3, false]);
    const between = await store.list('/a/', { after: '/a/15' });
    assert.deepEqual(keysOf(between.entries), ['/a/2', '/a/3']);
    const before = await store.list('/b/', { after: '/a/3' });
    assert.deepEqual(keysOf(before.entries), ['/b/1']);
    assert.deepEqual((await store.list('/a/', { after: '/b' })).entries, []);
  });
  on('shows the store as of a revision', async ({ store }) => {
    await put(store, '/a/1', 'old');
    const revision = await put(store, '/a/2', 'old');
    await put(store, '/a/1', 'new');
    await remove(store, '/a/2');
    await put(store, '/a/3', 'new');
    const then = await store.list('/a/', { revision });
    assert.deepEqual(
      then.entries.map(readable).map((entry) => entry.slice(0, 2)),
      [
        ['/a/1', 'old'],
        ['/a/2', 'old'],
      ],
    );
    assert.equal(then.revision, revision);
    assert.deepEqual(keysOf((await store.list('/a/')).entries), ['/a/1', '/a/3']);
    const page = await store.list('/a/', { revision, after: '/a/1', limit: 1 });
    assert.deepEqual([keysOf(page.entries), page.more], [['/a/2'], false]);
  });
  on('refuses a revision that is not reached', async ({ store }) => {
    await refuses(store.list('/', { revision: (await store.currentRevision()) + 1 }), 'future');
  });
  on('stays in order while keys are added and removed', async ({ store }) => {
    const keys = Array.from({ length: 1_500 }, (_, n) => `/a/${(n * 7919) % 1500}`);
    await store.list('/a/');
    await Promise.all(keys.map((key) => put(store, key, key)));
    const removed = keys.filter((_, n) => n % 3 === 0);
    await Promise.all(removed.map((key) => remove(store, key)));
    await put(store, keys[0] ?? '', 'again');
    const remaining = keys.filter((key, n) => n === 0 || !removed.includes(key)).sort();
    assert.deepEqual(keysOf((await store.list('/a/')).entries), remaining);
    assert.deepEqual(keysOf((await store.list('')).entries), remaining);
  });
}
