import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openStore } from './all.ts';

const clock = { now: (): number => 1_700_000_000_000 };
const transaction = { compare: [], write: [{ put: '/a', value: Buffer.from('x') }] };

test('openStore() takes an address by its scheme, and a plain path for a directory', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-all-'));
  try {
    const store = await openStore(directory, clock);
    const { revision } = await store.transact(transaction);
    await store.close();
    const same = await openStore(`embedded:${directory}`, clock);
    assert.equal((await same.get('/a'))?.revision, revision);
    await same.close();
  } finally {
    rmSync(directory, { recursive: true });
  }
  const store = await openStore('memory:', clock);
  assert.equal((await store.transact(transaction)).committed, true);
  await store.close();
});

test('openStore() names the schemes it knows', async () => {
  await assert.rejects(openStore('ftp://host', clock), {
    name: 'TypeError',
    message:
      'Cannot open store "ftp://host": its scheme must be one of "embedded:", "etcd:", "memory:"',
  });
});
