import assert from 'node:assert/strict';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { runStoreContract } from '../../store.contract.ts';
import type { Store } from '../../store.ts';
import { openEmbeddedStore } from './store.ts';

const newDirectory = (): Promise<string> => mkdtemp(join(tmpdir(), 'fairlead-store-'));
const now = (): number => 1_700_000_000_000;

runStoreContract('embedded', async (clock) => {
  const directory = await newDirectory();
  const opened: Store[] = [];
  const reopen = async (): Promise<Store> => {
    const store = await openEmbeddedStore({ directory, ...clock });
    opened.push(store);
    return store;
  };
  const cleanup = async (): Promise<void> => {
    for (const store of opened) await store.close();
    await rm(directory, { recursive: true });
  };
  return { store: await reopen(), reopen, cleanup };
});

test('openEmbeddedStore() opens a directory only once at a time', async () => {
  const directory = await newDirectory();
  const store = await openEmbeddedStore({ directory, now });
  await assert.rejects(openEmbeddedStore({ directory, now }), { reason: 'locked' });
  await store.transact({ compare: [], write: [{ put: '/a', value: Buffer.from('x') }] });
  await store.close();
  const again = await openEmbeddedStore({ directory, now });
  assert.equal((await again.list('/')).entries.length, 1);
  await again.close();
  await rm(directory, { recursive: true });
});

test('openEmbeddedStore() does not touch a file that it refuses, and releases the directory', async () => {
  const directory = await newDirectory();
  const file = join(directory, 'store.mdb');
  await writeFile(file, 'A letter to my landlord.');
  for (let attempt = 0; attempt < 2; attempt++) {
    await assert.rejects(openEmbeddedStore({ directory, now }), {
      reason: 'foreign',
      message: `Cannot use "${file}": it was not made by this program. Move it away, or choose another directory`,
    });
  }
  assert.equal((await stat(file)).size, 24);
  await rm(file);
  const store = await openEmbeddedStore({ directory, now });
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  await store.close();
  await rm(directory, { recursive: true });
});
