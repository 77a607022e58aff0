import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../observe/log.ts';
import { openMemoryStore } from '../../storage/backends/memory/store.ts';
import type { Store } from '../../storage/store.ts';
import { createCompactor } from './shared-compaction.ts';

const log = createLog('silent');
const write = async (store: Store): Promise<number> =>
  (await store.transact({ compare: [], write: [{ put: '/a', value: Buffer.from('x') }] })).revision;

test('what is older than an interval is forgotten, what is younger stays', async () => {
  const store = openMemoryStore({ now: () => 0 });
  const compact = createCompactor(store, log);
  const oldest = store.compactedRevision();
  await compact();
  assert.equal(store.compactedRevision(), oldest);
  const seen = await store.currentRevision();
  await write(store);
  const young = await write(store);
  await compact();
  assert.equal(store.compactedRevision(), seen);
  assert.equal((await store.get('/a', { revision: young }))?.revision, young);
});

test('of several servers one compacts in an interval, and never what another saw as young', async () => {
  const store = openMemoryStore({ now: () => 0 });
  const compacted: number[] = [];
  const counting: Store = {
    ...store,
    async compact(revision) {
      compacted.push(revision);
      await store.compact(revision);
    },
  };
  const servers = [1, 2, 3].map(() => createCompactor(counting, log));
  const seen: number[] = [];
  for (let interval = 0; interval < 5; interval += 1) {
    seen.push(await store.currentRevision());
    const before = compacted.length;
    await write(store);
    for (const compact of servers) await compact();
    assert.ok(compacted.length - before <= 1);
    // Never beyond where the store was when the interval before this one began and its looks were over.
    const limit = seen.at(-1) ?? 0;
    assert.ok(compacted.every((revision) => revision <= limit));
  }
  assert.ok(compacted.length > 0);
});
