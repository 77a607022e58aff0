import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openMemoryStore } from '../backends/memory/store.ts';
import type { Store } from '../store.ts';
import { isStoreError } from '../store-error.ts';
import { createExportReader, type ExportEntry } from './export-format.ts';
import { exportStore } from './export-store.ts';
import { importStore, refuseUnlessEmpty } from './import-store.ts';

const start = Date.parse('2026-01-02T00:00:00Z');
const options = { prefix: '/registry/', now: '2026-01-02T00:00:00Z' };

function open(now = start): Store {
  return openMemoryStore({ now: () => now, setTimer: () => () => {} });
}

async function put(store: Store, key: string, value: string, ttlSeconds?: number): Promise<number> {
  const write = [
    { put: key, value: Buffer.from(value), ...(ttlSeconds === undefined ? {} : { ttlSeconds }) },
  ];
  return (await store.transact({ compare: [], write })).revision;
}

async function linesOf(store: Store): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const line of exportStore(store, options)) lines.push(line.trimEnd());
  return lines;
}

async function* entriesOf(lines: readonly string[]): AsyncGenerator<ExportEntry> {
  const reader = createExportReader();
  for (const line of lines) {
    const entry = reader.line(line);
    if (entry !== undefined) yield entry;
  }
}

test('exportStore() exports one revision, whatever is written meanwhile', async () => {
  const store = open();
  for (let n = 0; n < 1200; n += 1)
    await put(store, `/registry/${String(n).padStart(4, '0')}`, 'a');
  await put(store, '/masterleases/x', 'not of the objects');
  const revision = await store.currentRevision();
  const reader = createExportReader();
  const values: string[] = [];
  for await (const line of exportStore(store, options)) {
    const entry = reader.line(line.trimEnd());
    if (entry !== undefined) values.push(Buffer.from(entry.value).toString());
    // The last page has not been read yet.
    if (values.length === 1) await put(store, '/registry/1199', 'changed');
  }
  assert.equal(values.length, 1200);
  assert.deepEqual(new Set(values), new Set(['a']));
  assert.equal(reader.end().revision, revision);
});

test('importStore() restores values and times to live, and no earlier revision can be read', async () => {
  const before = open();
  const old = await put(before, '/registry/a', 'one');
  await put(before, '/registry/event', 'soon gone', 100);
  await put(before, '/registry/over', 'gone by then', 10);
  const lines = await linesOf(before);
  const exported = await before.currentRevision();

  const now = start + 40_500;
  const after = open(now);
  const above = exported + 450;
  const done = await importStore(after, { entries: entriesOf(lines), above, now: () => now });
  assert.deepEqual([done.written, done.expired], [2, 1]);
  const { entries } = await after.list('');
  assert.deepEqual(
    entries.map(({ key, value }) => [key, Buffer.from(value).toString()]),
    [
      ['/registry/a', 'one'],
      ['/registry/event', 'soon gone'],
    ],
  );
  assert.ok(entries.every(({ revision }) => revision > above));
  assert.deepEqual(
    (await after.expiring()).map(({ key, expiresAt }) => [key, expiresAt - now]),
    [['/registry/event', 60_000]],
  );
  const watched = after.watch('', old, new AbortController().signal)[Symbol.asyncIterator]();
  await assert.rejects(watched.next(), (error) => isStoreError(error, 'compacted'));
});

test('refuseUnlessEmpty() refuses a store with keys', async () => {
  const store = open();
  await refuseUnlessEmpty(store, 'here');
  await put(store, '/x', 'y');
  await assert.rejects(refuseUnlessEmpty(store, 'here'), /not empty/);
});
