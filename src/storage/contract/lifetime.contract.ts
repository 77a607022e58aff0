// Compaction, expiry and closing.
import assert from 'node:assert/strict';
import type { Transaction } from '../store.ts';
import {
  bytes,
  collect,
  firstOf,
  keysOf,
  nextImmediate,
  type On,
  put,
  readable,
  refuses,
  remove,
  summary,
  text,
} from './subject.contract.ts';

export function compactCases(on: On): void {
  on('refuses earlier revisions, and still reads at the revision itself', async ({ store }) => {
    const first = await put(store, '/a', 'one');
    await put(store, '/removed', 'x');
    const second = await put(store, '/a', 'two');
    const deleted = await remove(store, '/removed');
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
  on('continues its revisions after everything was compacted', async ({ store }) => {
    await put(store, '/a', 'x');
    const last = await remove(store, '/a');
    await store.compact(last);
    assert.deepEqual((await store.list('/')).entries, []);
    assert.equal(await store.currentRevision(), last);
    const again = await put(store, '/a', 'y');
    assert.deepEqual(readable(await store.get('/a')), ['/a', 'y', again, again]);
    assert.equal(again, last + 1);
  });
  on('refuses a future revision and ignores an earlier one', async ({ store }) => {
    const revision = await put(store, '/a', 'x');
    await refuses(store.compact(revision + 1), 'future');
    await store.compact(revision);
    await store.compact(revision - 1);
    assert.equal(store.compactedRevision(), revision);
  });
  on('compacts a long history while others write', async ({ store }) => {
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

export function expiryCases(on: On): void {
  const lasting = (key: string, value: string, ttlSeconds: number): Transaction => ({
    compare: [],
    write: [{ put: key, value: bytes(value), ttlSeconds }],
  });
  on('ends with an ordinary delete', async ({ store, clock }) => {
    const { revision } = await store.transact(lasting('/a', 'x', 10));
    await store.transact(lasting('/b', 'x', 20));
    clock.advance(9_000);
    assert.notEqual(await store.get('/a'), undefined);
    const observed = collect(store, '/', revision + 1, revision + 2);
    clock.advance(1_500);
    assert.deepEqual((await observed).map(summary), [
      `delete /a ${revision + 2} created ${revision} before x ${revision}`,
    ]);
    assert.deepEqual(keysOf((await store.list('/')).entries), ['/b']);
  });
  on('is that of the last put', async ({ store, clock }) => {
    await store.transact(lasting('/unlimited', 'x', 10));
    await store.transact(lasting('/longer', 'x', 10));
    await store.transact(lasting('/again', 'x', 10));
    await put(store, '/unlimited', 'y');
    await store.transact(lasting('/longer', 'y', 100));
    await remove(store, '/again');
    await put(store, '/again', 'z');
    const { revision } = await store.transact(lasting('/short', 'x', 10));
    const observed = collect(store, '/', revision, revision + 1);
    clock.advance(20_000);
    assert.deepEqual(
      (await observed).map(({ type, key }) => `${type} ${key}`),
      ['delete /short'],
    );
    assert.deepEqual(keysOf((await store.list('/')).entries), ['/again', '/longer', '/unlimited']);
  });
  on('is listed by expiring()', async ({ store }) => {
    const { revision } = await store.transact(lasting('/a', 'x', 100));
    await store.transact(lasting('/removed', 'x', 100));
    await remove(store, '/removed');
    await put(store, '/stays', 'x');
    const expiring = await store.expiring();
    assert.deepEqual(
      expiring.map((one) => [one.key, one.revision]),
      [['/a', revision]],
    );
    assert.ok(expiring.every(({ expiresAt }) => expiresAt > 0));
  });
  on('outlives the process', async ({ store, clock, reopen }) => {
    if (reopen === undefined) return;
    await store.transact(lasting('/soon', 'x', 10));
    const { revision } = await store.transact(lasting('/late', 'x', 100));
    await store.close();
    clock.advance(50_000);
    const again = await reopen();
    const observed = collect(again, '/', revision, revision + 1);
    clock.advance(1_000);
    assert.deepEqual(
      (await observed).map(({ key }) => key),
      ['/soon'],
    );
    assert.deepEqual(keysOf((await again.list('/')).entries), ['/late']);
  });
}

export function closeCases(on: On): void {
  on('finishes what is under way and refuses later calls', async ({ store }) => {
    const pending = put(store, '/a', 'x');
    await store.close();
    assert.ok((await pending) > 0);
    await refuses(put(store, '/a', 'y'), 'closed');
    await refuses(store.get('/a'), 'closed');
    await refuses(store.list('/'), 'closed');
    await refuses(store.compact(1), 'closed');
    await refuses(store.currentRevision(), 'closed');
    await refuses(store.expiring(), 'closed');
    await refuses(firstOf(store, 1), 'closed');
    await store.close();
  });
  on('ends an idle watch', async ({ store }) => {
    const next = firstOf(store, await store.currentRevision());
    await nextImmediate();
    await Promise.all([refuses(next, 'closed'), store.close()]);
  });
  on('keeps everything for the next opening', async ({ store, reopen }) => {
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
