import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Cached, type Change, createResourceCache } from './resource-cache.ts';

const dropObject = (): void => {};

function entry(key: string, revision: number, bytes = 10): Cached {
  const object = { apiVersion: 'v1', kind: 'Service', metadata: { name: key } };
  return { key, revision, object, json: Buffer.alloc(bytes), prefixLength: 0, dropObject };
}

const added = (key: string, revision: number, bytes?: number): Change => ({
  type: 'ADDED',
  revision,
  current: entry(key, revision, bytes),
});
const modified = (key: string, revision: number): Change => ({
  ...added(key, revision),
  type: 'MODIFIED',
});
const deleted = (key: string, revision: number): Change => ({
  ...added(key, revision),
  type: 'DELETED',
});
const keys = (entries: readonly Cached[]): readonly string[] => entries.map(({ key }) => key);
const revisions = (changes: readonly Change[] | undefined): readonly number[] | undefined =>
  changes?.map(({ revision }) => revision);

/** As many changes as are remembered. */
const rememberedChanges = 8192;

test('list() is in the order of keys, however they came', () => {
  const cache = createResourceCache();
  for (const [i, key] of ['/s/b/2', '/s/a/9', '/s/b/1', '/s/a/10', '/s/ab/1'].entries()) {
    cache.apply(added(key, i + 1));
  }
  assert.deepEqual(keys(cache.list('/s/')), ['/s/a/10', '/s/a/9', '/s/ab/1', '/s/b/1', '/s/b/2']);
});

test('list() of a prefix has what is below it and not its neighbours', () => {
  const cache = createResourceCache();
  cache.load(
    ['/s/a/1', '/s/a-b/1', '/s/a/2', '/s/a0/1', '/s/a.b/1', '/s/b/1'].map((k) => entry(k, 1)),
  );
  assert.deepEqual(keys(cache.list('/s/a/')), ['/s/a/1', '/s/a/2']);
  assert.deepEqual(keys(cache.list('/s/nothing/')), []);
  assert.equal(cache.list('/s/').length, 6);
});

test('list() is not changed by what happens afterwards', () => {
  const cache = createResourceCache();
  cache.load([entry('/s/a', 1)]);
  const before = cache.list('/s/');
  cache.apply(added('/s/b', 2));
  cache.apply(modified('/s/a', 3));
  assert.deepEqual(before, [entry('/s/a', 1)]);
});

test('get(), count() and lastChange() follow adds, changes and deletes', () => {
  const cache = createResourceCache();
  assert.equal(cache.lastChange(), 0);
  cache.load([entry('/s/b', 4), entry('/s/a', 3)]);
  assert.equal(cache.lastChange(), 4);
  cache.apply(modified('/s/a', 5));
  assert.equal(cache.get('/s/a')?.revision, 5);
  assert.equal(cache.count(), 2);
  cache.apply(deleted('/s/a', 6));
  assert.equal(cache.get('/s/a'), undefined);
  assert.deepEqual(keys(cache.list('/s/')), ['/s/b']);
  assert.equal(cache.lastChange(), 6);
  cache.apply(deleted('/s/a', 7));
  assert.equal(cache.count(), 1);
});

test('changesAfter() gives exactly what followed', () => {
  const cache = createResourceCache();
  for (const revision of [2, 4, 4, 7]) cache.apply(added(`/s/${revision}`, revision));
  const cases: readonly [after: number, wanted: readonly number[]][] = [
    [0, [2, 4, 4, 7]],
    [2, [4, 4, 7]],
    [3, [4, 4, 7]],
    [4, [7]],
    [7, []],
    [100, []],
  ];
  for (const [after, wanted] of cases) {
    assert.deepEqual(revisions(cache.changesAfter(after)), wanted, `after ${after}`);
  }
});

test('changesAfter() knows what was remembered from before the load', () => {
  const cache = createResourceCache();
  cache.forgetBefore(1);
  cache.load([entry('/s/a', 3)]);
  cache.addHistory(added('/s/a', 2));
  cache.addHistory(modified('/s/a', 3));
  cache.apply(modified('/s/a', 5));
  assert.deepEqual(revisions(cache.changesAfter(2)), [3, 5]);
  assert.equal(cache.changesAfter(0), undefined);
});

test('changesAfter() is undefined from before what was forgotten, and forgetting never goes back', () => {
  const cache = createResourceCache();
  for (const revision of [1, 2, 3, 4]) cache.apply(added('/s/a', revision));
  cache.forgetBefore(3);
  assert.equal(cache.changesAfter(2), undefined);
  assert.deepEqual(revisions(cache.changesAfter(3)), [4]);
  cache.forgetBefore(1);
  assert.equal(cache.changesAfter(2), undefined);
});

test('the history holds so many changes and no more', () => {
  const cache = createResourceCache();
  const count = rememberedChanges * 3 + 5;
  for (let revision = 1; revision <= count; revision++) cache.apply(added('/s/a', revision));
  const oldest = count - rememberedChanges;
  assert.equal(cache.changesAfter(oldest - 1), undefined);
  const changes = cache.changesAfter(oldest);
  assert.equal(changes?.length, rememberedChanges);
  assert.equal(changes?.[0]?.revision, oldest + 1);
});

test('the history of large objects is held by their bytes', () => {
  const cache = createResourceCache();
  for (let revision = 1; revision <= 100; revision++) {
    cache.apply(added('/s/a', revision, 1024 * 1024));
  }
  assert.equal(cache.changesAfter(35), undefined);
  assert.equal(cache.changesAfter(36)?.length, 64);
});

test('a revision of which a part was dropped counts as forgotten', () => {
  const cache = createResourceCache();
  for (let i = 0; i < rememberedChanges + 1; i++) cache.apply(added(`/s/${i}`, 5));
  assert.equal(cache.changesAfter(4), undefined);
  assert.deepEqual(cache.changesAfter(5), []);
});

test('of what the history drops the objects are dropped, live or not', () => {
  const cache = createResourceCache();
  const dropped: number[] = [];
  for (let revision = 1; revision <= rememberedChanges + 2; revision += 1) {
    const current = { ...entry('/s/a', revision), dropObject: () => dropped.push(revision) };
    cache.apply({ type: 'MODIFIED', revision, current });
  }
  assert.deepEqual(dropped, [1, 2]);
});

test('what the history drops is let go', async () => {
  const { setFlagsFromString } = await import('node:v8');
  const { runInNewContext } = await import('node:vm');
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const cache = createResourceCache();
  const refs: WeakRef<Cached>[] = [];
  for (let revision = 1; revision <= 300; revision++) {
    const change = added('/s/a', revision, 1024 * 1024);
    refs.push(new WeakRef(change.current));
    cache.apply(change);
  }
  // A reference that was just looked at lives until the turn ends.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  const alive = refs.filter((ref) => ref.deref() !== undefined).length;
  assert.ok(alive <= 64 + 2, `${alive} of 300 are alive`);
});

test('listen() hands on each change until it is ended', () => {
  const cache = createResourceCache();
  const seen: number[] = [];
  const stop = cache.subscribe(({ revision }) => seen.push(revision));
  cache.apply(added('/s/a', 1));
  cache.apply(deleted('/s/a', 2));
  stop();
  cache.apply(added('/s/a', 3));
  assert.deepEqual(seen, [1, 2]);
});

test('listen() shows listeners a cache that has the change', () => {
  const cache = createResourceCache();
  const seen: (number | undefined)[] = [];
  cache.subscribe(() => seen.push(cache.get('/s/a')?.revision));
  cache.apply(added('/s/a', 1));
  cache.apply(modified('/s/a', 2));
  cache.apply(deleted('/s/a', 3));
  assert.deepEqual(seen, [1, 2, undefined]);
});
