// What every storage engine must do. An engine's own test calls runStoreContract and adds only what is
// special about it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StoreClock } from './expiry.ts';
import type { Entry, Store, StoreEvent, Transaction, Write } from './store.ts';
import { isStoreError, type StoreErrorReason } from './store-error.ts';

export type OpenedStore = {
  readonly store: Store;
  /** Opens what the closed store left behind; absent for engines that leave nothing. */
  readonly reopen?: () => Promise<Store>;
  readonly cleanup: () => Promise<void>;
};

export type OpenStore = (clock: Required<StoreClock>) => Promise<OpenedStore>;

export function runStoreContract(name: string, open: OpenStore): void {
  const on = withStore(open);
  describe(`${name} store`, () => {
    describe('get()', () => getCases(on));
    describe('list()', () => listCases(on));
    describe('transact()', () => transactCases(on));
    describe('transact() on what is there', () => compareCases(on));
    describe('watch()', () => watchCases(on));
    describe('watch() at its ends', () => watchEndCases(on));
    describe('subscribe()', () => subscribeCases(on));
    describe('compact()', () => compactCases(on));
    describe('a time to live', () => expiryCases(on));
    describe('close()', () => closeCases(on));
  });
}

type Subject = OpenedStore & { readonly clock: TestClock };
type On = (title: string, body: (subject: Subject) => Promise<void>) => void;

function withStore(open: OpenStore): On {
  return (title, body) => {
    it(title, async () => {
      const clock = createTestClock();
      const opened = await open(clock);
      try {
        await body({ ...opened, clock });
      } finally {
        await opened.cleanup();
      }
    });
  };
}

function getCases(on: On): void {
  on('finds nothing in a new store, which is at a revision above 0', async ({ store }) => {
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
    const gone = await remove(store, '/a');
    assert.equal(await store.get('/a', { revision: before }), undefined);
    const atFirst = await store.get('/a', { revision: first });
    assert.deepEqual(readable(atFirst), ['/a', 'one', first, first]);
    const atSecond = await store.get('/a', { revision: second });
    assert.deepEqual(readable(atSecond), ['/a', 'two', second, first]);
    assert.equal(await store.get('/a', { revision: gone }), undefined);
    assert.equal(await store.get('/a'), undefined);
  });
  on('refuses a revision that is not reached', async ({ store }) => {
    const revision = (await store.currentRevision()) + 1;
    await refuses(store.get('/a', { revision }), 'future');
  });
  on('keeps any bytes, none and many', async ({ store }) => {
    const every = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const values = [new Uint8Array(0), every, new Uint8Array(1_300_000).fill(7)];
    for (const value of values) {
      await store.transact({ compare: [], write: [{ put: '/a', value }] });
      const found = await store.get('/a');
      assert.ok(found !== undefined && Buffer.from(value).equals(found.value));
    }
  });
}

function listCases(on: On): void {
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
  on('goes on after a key, up to a limit', async ({ store }) => {
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
  on('stays in order while keys come and go', async ({ store }) => {
    const keys = Array.from({ length: 1_500 }, (_, n) => `/a/${(n * 7919) % 1500}`);
    await store.list('/a/');
    await Promise.all(keys.map((key) => put(store, key, key)));
    const gone = keys.filter((_, n) => n % 3 === 0);
    await Promise.all(gone.map((key) => remove(store, key)));
    await put(store, keys[0] ?? '', 'again');
    const left = keys.filter((key, n) => n === 0 || !gone.includes(key)).sort();
    assert.deepEqual(keysOf((await store.list('/a/')).entries), left);
    assert.deepEqual(keysOf((await store.list('')).entries), left);
  });
}

function transactCases(on: On): void {
  on('gives all writes of a transaction one revision', async ({ store }) => {
    const before = await store.currentRevision();
    const write = [puts('/a', 'x'), puts('/b', 'x')];
    const outcome = await store.transact({ compare: [], write });
    assert.deepEqual(outcome, { committed: true, revision: before + 1 });
    assert.equal((await store.get('/a'))?.revision, before + 1);
    assert.equal((await store.get('/b'))?.revision, before + 1);
    assert.equal(await put(store, '/c', 'x'), before + 2);
  });
  on('takes no revision when nothing is written', async ({ store }) => {
    const revision = await put(store, '/a', 'x');
    const unwritten = { committed: true, revision };
    const compare = [{ key: '/a', revision }];
    assert.deepEqual(await store.transact({ compare, write: [] }), unwritten);
    const write = [{ delete: '/absent' }];
    assert.deepEqual(await store.transact({ compare: [], write }), unwritten);
    assert.equal(await store.currentRevision(), revision);
  });
  on('gives a key made again a new create revision', async ({ store }) => {
    await put(store, '/a', 'one');
    await remove(store, '/a');
    const again = await put(store, '/a', 'two');
    assert.deepEqual(readable(await store.get('/a')), ['/a', 'two', again, again]);
  });
  on('deletes and writes in one transaction', async ({ store }) => {
    await put(store, '/a', 'x');
    const write = [{ delete: '/a' }, puts('/b', 'y'), { delete: '/absent' }];
    const { revision } = await store.transact({ compare: [], write });
    assert.deepEqual((await store.list('/')).entries.map(readable), [
      ['/b', 'y', revision, revision],
    ]);
  });
  on('does not take a key twice, nor an empty or endless one', async ({ store }) => {
    const before = await store.currentRevision();
    const twice = [puts('/a', 'x'), { delete: '/a' }];
    await assert.rejects(store.transact({ compare: [], write: twice }), TypeError);
    await assert.rejects(put(store, '', 'x'), TypeError);
    await assert.rejects(put(store, '/'.padEnd(5_000, 'a'), 'x'), TypeError);
    assert.equal(await store.currentRevision(), before);
  });
  on('shows what is acknowledged to whoever asks next', async ({ store }) => {
    const outcomes = Array.from({ length: 50 }, async (_, n) => {
      const revision = await put(store, `/a/${n}`, 'x');
      assert.ok((await store.currentRevision()) >= revision);
      assert.equal((await store.get(`/a/${n}`))?.revision, revision);
      return revision;
    });
    assert.equal(new Set(await Promise.all(outcomes)).size, 50);
  });
}

function compareCases(on: On): void {
  on('compares several keys, 0 meaning absent', async ({ store }) => {
    const a = await put(store, '/a', 'x');
    const compare = [
      { key: '/a', revision: a },
      { key: '/b', revision: 0 },
    ];
    const outcome = await store.transact({ compare, write: [puts('/b', 'x')] });
    assert.equal(outcome.committed, true);
    await remove(store, '/b');
    assert.equal((await store.transact({ compare, write: [] })).committed, true);
  });
  on('changes nothing after a failed comparison, and says what it found', async ({ store }) => {
    const a = await put(store, '/a', 'one');
    const b = await put(store, '/b', 'two');
    const compare = [
      { key: '/a', revision: 0 },
      { key: '/b', revision: b },
      { key: '/b', revision: a },
      { key: '/c', revision: b },
    ];
    const outcome = await store.transact({ compare, write: [puts('/a', 'new'), { delete: '/b' }] });
    assert.equal(outcome.committed, false);
    assert.equal(outcome.revision, b);
    const failed = outcome.committed ? [] : outcome.failed;
    assert.deepEqual(
      failed.map(({ key, revision, found }) => ({
        key,
        revision,
        found: found && readable(found),
      })),
      [
        { key: '/a', revision: 0, found: ['/a', 'one', a, a] },
        { key: '/b', revision: a, found: ['/b', 'two', b, b] },
        { key: '/c', revision: b, found: undefined },
      ],
    );
    assert.equal(await store.currentRevision(), b);
    assert.deepEqual((await store.list('/')).entries.map(readable), [
      ['/a', 'one', a, a],
      ['/b', 'two', b, b],
    ]);
  });
  on('lets one of those win who start from the same state', async ({ store }) => {
    const rival = (n: number): Transaction => ({
      compare: [{ key: '/a', revision: 0 }],
      write: [puts('/a', `rival ${n}`), puts(`/mine/${n}`, 'x')],
    });
    const outcomes = await Promise.all([0, 1, 2, 3, 4].map((n) => store.transact(rival(n))));
    assert.deepEqual(
      outcomes.map(({ committed }) => committed),
      [true, false, false, false, false],
    );
    const winner = outcomes[0]?.revision ?? 0;
    const found = ['/a', 'rival 0', winner, winner];
    for (const outcome of outcomes.slice(1)) {
      assert.deepEqual(outcome.committed ? [] : outcome.failed.map((f) => readable(f.found)), [
        found,
      ]);
    }
    assert.deepEqual(keysOf((await store.list('/mine/')).entries), ['/mine/0']);
  });
  on('loses no increment of many at once', async ({ store }) => {
    await put(store, '/count', '0');
    const increment = async (): Promise<void> => {
      for (;;) {
        const found = await store.get('/count');
        const compare = [{ key: '/count', revision: found?.revision ?? 0 }];
        const write = [puts('/count', String(Number(text(found?.value)) + 1))];
        if ((await store.transact({ compare, write })).committed) return;
      }
    };
    await Promise.all(Array.from({ length: 20 }, increment));
    assert.equal(text((await store.get('/count'))?.value), '20');
  });
}

function watchCases(on: On): void {
  on('replays what happened, with what stood there before', async ({ store }) => {
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
  on('starts after the given revision', async ({ store }) => {
    const first = await put(store, '/a', 'one');
    const second = await put(store, '/a', 'two');
    assert.deepEqual((await collect(store, '/a', first, second)).map(summary), [
      `put /a=two ${second} created ${first} before one ${first}`,
    ]);
  });
  on('neither misses nor repeats between past and present', async ({ store }) => {
    const start = await store.currentRevision();
    const total = 400;
    const writes = (async () => {
      for (let n = 0; n < total; n += 4) {
        await Promise.all([0, 1, 2, 3].map((more) => put(store, `/a/${(n + more) % 30}`, 'x')));
      }
    })();
    const watchers = [0, 1, 2].map(async (behind) => {
      while ((await store.currentRevision()) < start + behind * 50) await turn();
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
  on('hears what comes later, and only with the prefix', async ({ store }) => {
    const start = await store.currentRevision();
    const heard = collect(store, '/a/', start, start + 3);
    await put(store, '/a/1', 'x');
    await put(store, '/b/1', 'x');
    await put(store, '/a/2', 'x');
    assert.deepEqual(
      (await heard).map(({ key }) => key),
      ['/a/1', '/a/2'],
    );
  });
}

function watchEndCases(on: On): void {
  on('ends when told to, asleep or not yet begun', async ({ store }) => {
    const revision = await store.currentRevision();
    const stop = new AbortController();
    const iterator = store.watch('/', revision, stop.signal)[Symbol.asyncIterator]();
    const next = iterator.next();
    await turn();
    stop.abort();
    assert.equal((await next).done, true);
    const late = store.watch('/', revision, stop.signal)[Symbol.asyncIterator]();
    assert.equal((await late.next()).done, true);
  });
  on('refuses a revision that is no longer kept, or not reached', async ({ store }) => {
    const old = await put(store, '/a', 'x');
    await put(store, '/a', 'y');
    const current = await put(store, '/a', 'z');
    await store.compact(current);
    await refuses(firstOf(store, old), 'compacted');
    await refuses(firstOf(store, current + 1), 'future');
  });
  on('tells a watcher that compaction overtook', async ({ store }) => {
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

function subscribeCases(on: On): void {
  on('hears every commit before its transaction is answered', async ({ store }) => {
    const heard: string[] = [];
    const start = await store.currentRevision();
    const stop = store.subscribe((events) => heard.push(...events.map(summary)));
    await put(store, '/a', 'one');
    assert.deepEqual(heard, [`put /a=one ${start + 1} created ${start + 1}`]);
    const revisions = await Promise.all(
      ['/b', '/a', '/c'].map(async (key) => {
        const revision = await put(store, key, 'two');
        assert.ok(heard.some((line) => line.startsWith(`put ${key}=two ${revision} `)));
        return revision;
      }),
    );
    assert.deepEqual(revisions, [start + 2, start + 3, start + 4]);
    assert.equal(heard[2], `put /a=two ${start + 3} created ${start + 1} before one ${start + 1}`);
    await remove(store, '/a');
    assert.equal(heard[4], `delete /a ${start + 5} created ${start + 1} before two ${start + 3}`);
    stop();
    await put(store, '/d', 'x');
    assert.equal(heard.length, 5);
  });
  on('hands over the very bytes that were written', async ({ store }) => {
    const value = bytes('x');
    const heard: unknown[] = [];
    store.subscribe((events) => heard.push(...events.map((event) => event.value)));
    await store.transact({ compare: [], write: [{ put: '/a', value }] });
    assert.equal(heard[0], value);
  });
  on('shows each transaction of a batch what those before it did', async ({ store }) => {
    const heard: StoreEvent[] = [];
    store.subscribe((events) => heard.push(...events));
    await Promise.all(['one', 'two', 'three'].map((value) => put(store, '/a', value)));
    const previous = heard.map((event) => text(event.previous?.value));
    assert.deepEqual(previous, ['', 'one', 'two']);
  });
}

function compactCases(on: On): void {
  on('refuses what came before, and still reads at the revision itself', async ({ store }) => {
    const first = await put(store, '/a', 'one');
    await put(store, '/gone', 'x');
    const second = await put(store, '/a', 'two');
    const deleted = await remove(store, '/gone');
    const third = await put(store, '/a', 'three');
    await store.compact(deleted);
    assert.equal(store.compactedRevision(), deleted);
    await refuses(store.get('/a', { revision: first }), 'compacted');
    await refuses(store.list('/', { revision: second }), 'compacted');
    const then = await store.list('/', { revision: deleted });
    assert.deepEqual(then.entries.map(readable), [['/a', 'two', second, first]]);
    assert.deepEqual(readable(await store.get('/a')), ['/a', 'three', third, first]);
    assert.deepEqual((await collect(store, '/', deleted, third)).map(summary), [
      `put /a=three ${third} created ${first} before two ${second}`,
    ]);
  });
  on('goes on counting where everything was compacted away', async ({ store }) => {
    await put(store, '/a', 'x');
    const last = await remove(store, '/a');
    await store.compact(last);
    assert.deepEqual((await store.list('/')).entries, []);
    assert.equal(await store.currentRevision(), last);
    const again = await put(store, '/a', 'y');
    assert.deepEqual(readable(await store.get('/a')), ['/a', 'y', again, again]);
    assert.equal(again, last + 1);
  });
  on('refuses the future and does nothing twice', async ({ store }) => {
    const revision = await put(store, '/a', 'x');
    await refuses(store.compact(revision + 1), 'future');
    await store.compact(revision);
    await store.compact(revision - 1);
    assert.equal(store.compactedRevision(), revision);
  });
  on('forgets a long past while others write', async ({ store }) => {
    const keys = Array.from({ length: 40 }, (_, n) => `/a/${n % 10}`);
    for (let round = 0; round < 40; round++) {
      await Promise.all(keys.map((key) => put(store, key, `${round}`)));
    }
    await remove(store, '/a/9');
    const target = await store.currentRevision();
    const [, later] = await Promise.all([store.compact(target), put(store, '/a/0', 'later')]);
    const then = await store.list('/a/', { revision: target });
    assert.deepEqual(
      then.entries.map(({ value }) => text(value)),
      Array(9).fill('39'),
    );
    assert.equal((await store.get('/a/0'))?.revision, later);
  });
}

function expiryCases(on: On): void {
  const lasting = (key: string, value: string, ttlSeconds: number): Transaction => ({
    compare: [],
    write: [{ put: key, value: bytes(value), ttlSeconds }],
  });
  on('ends with an ordinary delete', async ({ store, clock }) => {
    const { revision } = await store.transact(lasting('/a', 'x', 10));
    await store.transact(lasting('/b', 'x', 20));
    clock.advance(9_000);
    assert.notEqual(await store.get('/a'), undefined);
    const heard = collect(store, '/', revision + 1, revision + 2);
    clock.advance(1_500);
    assert.deepEqual((await heard).map(summary), [
      `delete /a ${revision + 2} created ${revision} before x ${revision}`,
    ]);
    assert.deepEqual(keysOf((await store.list('/')).entries), ['/b']);
  });
  on('is that of the last put', async ({ store, clock }) => {
    await store.transact(lasting('/kept', 'x', 10));
    await store.transact(lasting('/longer', 'x', 10));
    await store.transact(lasting('/again', 'x', 10));
    await put(store, '/kept', 'y');
    await store.transact(lasting('/longer', 'y', 100));
    await remove(store, '/again');
    await put(store, '/again', 'z');
    const { revision } = await store.transact(lasting('/short', 'x', 10));
    const heard = collect(store, '/', revision, revision + 1);
    clock.advance(20_000);
    assert.deepEqual(
      (await heard).map(({ type, key }) => `${type} ${key}`),
      ['delete /short'],
    );
    assert.deepEqual(keysOf((await store.list('/')).entries), ['/again', '/kept', '/longer']);
  });
  on('outlives the process', async ({ store, clock, reopen }) => {
    if (reopen === undefined) return;
    await store.transact(lasting('/soon', 'x', 10));
    const { revision } = await store.transact(lasting('/late', 'x', 100));
    await store.close();
    clock.advance(50_000);
    const again = await reopen();
    const heard = collect(again, '/', revision, revision + 1);
    clock.advance(1_000);
    assert.deepEqual(
      (await heard).map(({ key }) => key),
      ['/soon'],
    );
    assert.deepEqual(keysOf((await again.list('/')).entries), ['/late']);
  });
}

function closeCases(on: On): void {
  on('finishes what was begun and refuses the rest', async ({ store }) => {
    const begun = put(store, '/a', 'x');
    await store.close();
    assert.ok((await begun) > 0);
    await refuses(put(store, '/a', 'y'), 'closed');
    await refuses(store.get('/a'), 'closed');
    await refuses(store.list('/'), 'closed');
    await refuses(store.compact(1), 'closed');
    await refuses(store.currentRevision(), 'closed');
    await refuses(firstOf(store, 1), 'closed');
    await store.close();
  });
  on('ends a watch that is asleep', async ({ store }) => {
    const next = firstOf(store, await store.currentRevision());
    await turn();
    await Promise.all([refuses(next, 'closed'), store.close()]);
  });
  on('leaves everything for the next opening', async ({ store, reopen }) => {
    if (reopen === undefined) return;
    await put(store, '/old', 'x');
    const start = await put(store, '/a', 'one');
    await store.compact(start);
    const second = await put(store, '/a', 'two');
    const deleted = await remove(store, '/old');
    await store.close();
    const again = await reopen();
    assert.equal(await again.currentRevision(), deleted);
    assert.equal(again.compactedRevision(), start);
    assert.deepEqual((await again.list('/')).entries.map(readable), [['/a', 'two', second, start]]);
    assert.equal((await again.list('/', { revision: start })).entries.length, 2);
    await refuses(again.get('/a', { revision: start - 1 }), 'compacted');
    assert.equal((await collect(again, '/', start, deleted)).length, 2);
    assert.equal(await put(again, '/a', 'three'), deleted + 1);
    const compare = [{ key: '/a', revision: deleted + 1 }];
    assert.equal((await again.transact({ compare, write: [] })).committed, true);
  });
}

/** A clock that moves only when told to. */
export type TestClock = Required<StoreClock> & { readonly advance: (ms: number) => void };

export function createTestClock(startMs = 1_700_000_000_000): TestClock {
  let nowMs = startMs;
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  return {
    now: () => nowMs,
    setTimer(callback, delayMs) {
      const timer = { at: nowMs + delayMs, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(ms) {
      nowMs += ms;
      for (const timer of timers) {
        if (timer.at <= nowMs && timers.delete(timer)) timer.callback();
      }
    },
  };
}

function puts(key: string, value: string): Write {
  return { put: key, value: bytes(value) };
}

async function put(store: Store, key: string, value: string): Promise<number> {
  return (await store.transact({ compare: [], write: [puts(key, value)] })).revision;
}

async function remove(store: Store, key: string): Promise<number> {
  return (await store.transact({ compare: [], write: [{ delete: key }] })).revision;
}

/** Events after one revision up to another, which must come. */
async function collect(
  store: Store,
  prefix: string,
  after: number,
  until: number,
): Promise<readonly StoreEvent[]> {
  const all: StoreEvent[] = [];
  for await (const events of store.watch(prefix, after, AbortSignal.timeout(30_000))) {
    assert.notEqual(events.length, 0);
    all.push(...events);
    if ((all.at(-1)?.revision ?? 0) >= until) break;
  }
  return all;
}

function firstOf(store: Store, after: number): Promise<unknown> {
  const signal = AbortSignal.timeout(30_000);
  return store.watch('/', after, signal)[Symbol.asyncIterator]().next();
}

async function refuses(promise: Promise<unknown>, reason: StoreErrorReason): Promise<void> {
  await assert.rejects(promise, (error) => isStoreError(error, reason));
}

function summary({ type, key, value, revision, createRevision, previous }: StoreEvent): string {
  const now = `${type} ${key}${value === undefined ? '' : `=${text(value)}`} ${revision}`;
  const before =
    previous === undefined ? '' : ` before ${text(previous.value)} ${previous.revision}`;
  return `${now} created ${createRevision}${before}`;
}

function readable(entry: Entry | undefined): unknown[] {
  if (entry === undefined) return [];
  return [entry.key, text(entry.value), entry.revision, entry.createRevision];
}

function keysOf(entries: readonly Entry[]): string[] {
  return entries.map(({ key }) => key);
}

function bytes(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

function text(value: Uint8Array | undefined): string {
  return new TextDecoder().decode(value);
}

/** Lets everything that is ready run. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
