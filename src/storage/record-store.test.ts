// What a log that fails makes of a store. All else is in store.contract.ts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstRevision } from './history.ts';
import type { Change, LogStep, RecordLog } from './record-log.ts';
import { startRecordStore } from './record-store.ts';
import type { Store } from './store.ts';
import { isStoreError, StoreError } from './store-error.ts';
import { createTestClock, type TestClock } from './test-clock.ts';
import { createVersions } from './versions.ts';

type FailingStore = { readonly store: Store; readonly clock: TestClock; isFull: boolean };

function openFailingStore(): FailingStore {
  const records = new Map<string, Change>();
  const clock = createTestClock();
  const log: RecordLog = {
    async commit({ add, remove }: LogStep) {
      if (opened.isFull) throw new StoreError('full', 'no space');
      for (const each of add) records.set(`${each.revision}/${each.position}`, each);
      for (const each of remove) records.delete(`${each.revision}/${each.position}`);
    },
    readValue: ({ revision, position }) => {
      const change = records.get(`${revision}/${position}`);
      assert.ok(change);
      return change.value;
    },
    readAfter: (revision, upTo) =>
      [...records.values()].filter((each) => each.revision > revision && each.revision <= upTo),
    close: async () => {},
  };
  const start = { revision: firstRevision, compacted: firstRevision };
  const store = startRecordStore({ log, versions: createVersions(), ...start }, clock);
  const opened: FailingStore = { store, clock, isFull: false };
  return opened;
}

const put = (key: string, ttlSeconds?: number) => ({
  compare: [],
  write: [{ put: key, value: Buffer.from(key), ...(ttlSeconds !== undefined && { ttlSeconds }) }],
});

const isFull = (error: unknown): boolean => isStoreError(error, 'full');

test('a failed commit changes nothing, and reads and later writes work', async () => {
  const opened = openFailingStore();
  const { store } = opened;
  const { revision } = await store.transact(put('/a'));
  let batches = 0;
  store.subscribe(() => batches++);
  opened.isFull = true;
  const failed = [put('/a'), put('/b'), { compare: [], write: [{ delete: '/a' }] }];
  for (const outcome of await Promise.allSettled(failed.map((each) => store.transact(each)))) {
    assert.ok(outcome.status === 'rejected' && isFull(outcome.reason));
  }
  assert.equal(batches, 0);
  assert.equal(await store.currentRevision(), revision);
  assert.deepEqual(
    (await store.list('/')).entries.map((entry) => entry.revision),
    [revision],
  );
  opened.isFull = false;
  const compare = [{ key: '/b', revision: 0 }];
  const outcome = await store.transact({ ...put('/b'), compare });
  assert.deepEqual(outcome, { committed: true, revision: revision + 1 });
  assert.equal(batches, 1);
});

test('a failed compaction leaves earlier revisions readable', async () => {
  const opened = openFailingStore();
  const { store } = opened;
  const first = (await store.transact(put('/a'))).revision;
  const second = (await store.transact(put('/a'))).revision;
  opened.isFull = true;
  await assert.rejects(store.compact(second), isFull);
  assert.equal((await store.get('/a', { revision: first }))?.revision, first);
  opened.isFull = false;
  await store.compact(second);
  assert.equal(store.compactedRevision(), second);
});

test('a key that could not be deleted when it expired is tried again', async () => {
  const opened = openFailingStore();
  const { store, clock } = opened;
  const { revision } = await store.transact(put('/a', 10));
  opened.isFull = true;
  clock.advance(11_000);
  await assert.rejects(store.transact(put('/b')), isFull);
  assert.notEqual(await store.get('/a'), undefined);
  opened.isFull = false;
  clock.advance(2_000);
  await store.transact(put('/b'));
  assert.equal(await store.get('/a'), undefined);
  assert.equal(await store.currentRevision(), revision + 2);
});
