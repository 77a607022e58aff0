// Watches and subscriptions.
import assert from 'node:assert/strict';
import type { StoreEvent } from '../store.ts';
import {
  bytes,
  collect,
  firstOf,
  nextImmediate,
  type On,
  put,
  puts,
  refuses,
  remove,
  summary,
  text,
} from './subject.contract.ts';

export function watchCases(on: On): void {
  on('replays changes, with previous values', async ({ store }) => {
    const start = await store.currentRevision();
    await put(store, '/a', 'one');
    await put(store, '/other', 'x');
    await put(store, '/a', 'two');
    await remove(store, '/a');
    const last = await put(store, '/a', 'three');
    assert.deepEqual((await collect(store, '/a', start, last)).map(summary), [
      `put /a=one ${start + 1} created ${start + 1}`,
      `put /a=two ${start + 3} created ${start + 1} before one ${start + 1}`,
      `delete /a ${start + 4} created ${start + 1} before two ${start + 3}`,
      `put /a=three ${start + 5} created ${start + 5}`,
    ]);
  });
  on('starts after the requested revision', async ({ store }) => {
    const first = await put(store, '/a', 'one');
    const second = await put(store, '/a', 'two');
    assert.deepEqual((await collect(store, '/a', first, second)).map(summary), [
      `put /a=two ${second} created ${first} before one ${first}`,
    ]);
  });
  on('neither misses nor repeats changes between past and present', async ({ store }) => {
    const start = await store.currentRevision();
    const total = 400;
    const writes = (async () => {
      for (let n = 0; n < total; n += 4) {
        await Promise.all([0, 1, 2, 3].map((more) => put(store, `/a/${(n + more) % 30}`, 'x')));
      }
    })();
    const watchers = [0, 1, 2].map(async (behind) => {
      while ((await store.currentRevision()) < start + behind * 50) await nextImmediate();
      return collect(store, '/a/', start, start + total);
    });
    const revisions = Array.from({ length: total }, (_, n) => start + 1 + n);
    for (const events of await Promise.all(watchers)) {
      assert.deepEqual(
        events.map(({ revision }) => revision),
        revisions,
      );
    }
    await writes;
  });
  on('hands over whole revisions, in the order of their writes', async ({ store }) => {
    const start = await store.currentRevision();
    const write = Array.from({ length: 700 }, (_, n) => puts(`/a/${n}`, 'x'));
    await store.transact({ compare: [], write });
    const last = await put(store, '/a/0', 'y');
    const batches: string[][] = [];
    for await (const events of store.watch('/a/', start, AbortSignal.timeout(30_000))) {
      batches.push(events.map(({ key, revision }) => `${key} ${revision}`));
      if (events.at(-1)?.revision === last) break;
    }
    const whole = write.map((each) => `${'put' in each ? each.put : ''} ${start + 1}`);
    assert.deepEqual(batches.flat(), [...whole, `/a/0 ${last}`]);
    const ends = batches.map((batch) => batch.at(-1)?.split(' ')[1]);
    const starts = batches.map((batch) => batch[0]?.split(' ')[1]);
    assert.ok(ends.slice(0, -1).every((revision, n) => revision !== starts[n + 1]));
  });
  on('delivers later changes, and only with the prefix', async ({ store }) => {
    const start = await store.currentRevision();
    const observed = collect(store, '/a/', start, start + 3);
    await put(store, '/a/1', 'x');
    await put(store, '/b/1', 'x');
    await put(store, '/a/2', 'x');
    assert.deepEqual(
      (await observed).map(({ key }) => key),
      ['/a/1', '/a/2'],
    );
  });
}

export function watchEndCases(on: On): void {
  on('ends when its signal aborts, idle or not yet started', async ({ store }) => {
    const revision = await store.currentRevision();
    const stop = new AbortController();
    const iterator = store.watch('/', revision, stop.signal)[Symbol.asyncIterator]();
    const next = iterator.next();
    await nextImmediate();
    stop.abort();
    assert.equal((await next).done, true);
    const late = store.watch('/', revision, stop.signal)[Symbol.asyncIterator]();
    assert.equal((await late.next()).done, true);
  });
  on('refuses a revision that is compacted, or not reached', async ({ store }) => {
    const old = await put(store, '/a', 'x');
    await put(store, '/a', 'y');
    const current = await put(store, '/a', 'z');
    await store.compact(current);
    await refuses(firstOf(store, old), 'compacted');
    await refuses(firstOf(store, current + 1), 'future');
  });
  on('refuses a watcher that compaction overtook', async ({ store }) => {
    const start = await store.currentRevision();
    await put(store, '/a', 'x');
    const signal = new AbortController().signal;
    const iterator = store.watch('/a', start, signal)[Symbol.asyncIterator]();
    assert.equal((await iterator.next()).value?.length, 1);
    await put(store, '/a', 'y');
    await store.compact(await put(store, '/a', 'z'));
    await refuses(iterator.next(), 'compacted');
  });
}

export function subscribeCases(on: On): void {
  on(
    'hands over the origin of a value, if it has one, and stores only the value',
    async (subject) => {
      const { store } = subject;
      const origin = { note: 'not stored' };
      const seen: StoreEvent[] = [];
      store.subscribe((events) => seen.push(...events));
      await store.transact({ compare: [], write: [{ ...puts('/a', 'x'), origin }] });
      await put(store, '/a', 'y');
      assert.ok(seen[0]?.origin === undefined || seen[0].origin === origin);
      assert.equal(seen[1]?.origin, undefined);
      assert.equal(text(seen[1]?.previous?.value), 'x');
      assert.ok(!('origin' in ((await store.get('/a')) ?? {})));
    },
  );
  on('delivers every commit before its transaction resolves', async ({ store }) => {
    const observed: string[] = [];
    const start = await store.currentRevision();
    const stop = store.subscribe((events) => observed.push(...events.map(summary)));
    await put(store, '/a', 'one');
    assert.deepEqual(observed, [`put /a=one ${start + 1} created ${start + 1}`]);
    const revisions = await Promise.all(
      ['/b', '/a', '/c'].map(async (key) => {
        const revision = await put(store, key, 'two');
        assert.ok(observed.some((line) => line.startsWith(`put ${key}=two ${revision} `)));
        return revision;
      }),
    );
    assert.deepEqual([...revisions].sort(), [start + 2, start + 3, start + 4]);
    const second = revisions[1] ?? 0;
    const before = `created ${start + 1} before`;
    assert.ok(observed.includes(`put /a=two ${second} ${before} one ${start + 1}`));
    await remove(store, '/a');
    assert.equal(observed[4], `delete /a ${start + 5} ${before} two ${second}`);
    stop();
    await put(store, '/d', 'x');
    assert.equal(observed.length, 5);
  });
  on('hands over the very bytes that were written', async ({ store }) => {
    const value = bytes('x');
    const observed: unknown[] = [];
    store.subscribe((events) => observed.push(...events.map((event) => event.value)));
    await store.transact({ compare: [], write: [{ put: '/a', value }] });
    assert.equal(observed[0], value);
  });
  on('shows each transaction of a batch the writes of those before it', async ({ store }) => {
    const observed: StoreEvent[] = [];
    store.subscribe((events) => observed.push(...events));
    await Promise.all(['one', 'two', 'three'].map((value) => put(store, '/a', value)));
    const values = observed.map((event) => text(event.value));
    const previous = observed.map((event) => text(event.previous?.value));
    assert.deepEqual(previous, ['', ...values.slice(0, 2)]);
  });
}
