import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runStoreContract } from '../../store.contract.ts';
import type { Store } from '../../store.ts';
import { openEmbeddedStore } from './store.ts';

runStoreContract('embedded', async (clock) => {
  const directory = await mkdtemp(join(tmpdir(), 'fairlead-store-'));
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
