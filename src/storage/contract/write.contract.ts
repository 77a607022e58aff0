// Transactions.
import assert from 'node:assert/strict';
import type { Transaction } from '../store.ts';
import { keysOf, type On, put, puts, readable, remove, text } from './subject.contract.ts';

export function transactCases(on: On): void {
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
  on('gives a key that is created again a new create revision', async ({ store }) => {
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
  on('refuses a key twice, an empty one and one that is too long', async ({ store }) => {
    const before = await store.currentRevision();
    const twice = [puts('/a', 'x'), { delete: '/a' }];
    await assert.rejects(store.transact({ compare: [], write: twice }), TypeError);
    await assert.rejects(put(store, '', 'x'), TypeError);
    await assert.rejects(put(store, '/'.padEnd(5_000, 'a'), 'x'), TypeError);
    assert.equal(await store.currentRevision(), before);
  });
  on('shows what is acknowledged to the next read', async ({ store }) => {
    const outcomes = Array.from({ length: 50 }, async (_, n) => {
      const revision = await put(store, `/a/${n}`, 'x');
      assert.ok((await store.currentRevision()) >= revision);
      assert.equal((await store.get(`/a/${n}`))?.revision, revision);
      return revision;
    });
    assert.equal(new Set(await Promise.all(outcomes)).size, 50);
  });
}

export function compareCases(on: On): void {
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
  on('changes nothing after a failed comparison, and reports what it found', async ({ store }) => {
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
  on('lets one of several transactions win that compare with the same state', async ({ store }) => {
    const rival = (n: number): Transaction => ({
      compare: [{ key: '/a', revision: 0 }],
      write: [puts('/a', `rival ${n}`), puts(`/own/${n}`, 'x')],
    });
    const outcomes = await Promise.all([0, 1, 2, 3, 4].map((n) => store.transact(rival(n))));
    // Which one depends on the backend: over a network they arrive in any order.
    const winner = outcomes.findIndex(({ committed }) => committed);
    const losers = outcomes.filter(({ committed }) => !committed);
    assert.equal(losers.length, 4);
    const revision = outcomes[winner]?.revision ?? 0;
    const found = ['/a', `rival ${winner}`, revision, revision];
    for (const outcome of losers) {
      assert.deepEqual(outcome.committed ? [] : outcome.failed.map((f) => readable(f.found)), [
        found,
      ]);
    }
    assert.deepEqual(keysOf((await store.list('/own/')).entries), [`/own/${winner}`]);
  });
  on('loses no increment of many concurrent ones', async ({ store }) => {
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
