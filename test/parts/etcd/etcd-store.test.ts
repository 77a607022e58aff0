// The storage contract on a real etcd. All cases share one member; each has a prefix of its own.
import { after, before, describe } from 'node:test';
import { createEtcdClient } from '../../../src/storage/backends/etcd/client.ts';
import { openEtcdStore } from '../../../src/storage/backends/etcd/store.ts';
import { runStoreContract } from '../../../src/storage/store.contract.ts';
import type { Store } from '../../../src/storage/store.ts';
import { isStoreError } from '../../../src/storage/store-error.ts';
import { etcdMissing, type RunningEtcd, startEtcd } from '../harness/running-etcd.ts';

const skip = etcdMissing() ?? false;

describe('with a real etcd', { skip }, () => {
  let etcd: RunningEtcd;
  let opened = 0;
  before(async () => {
    etcd = await startEtcd();
  });
  after(() => etcd.stop());

  runStoreContract(
    'etcd',
    async ({ now }) => {
      opened += 1;
      const prefix = `/case-${opened}/`;
      const stores: Store[] = [];
      const reopen = async (): Promise<Store> => {
        const store = await openEtcdStore({ endpoints: [etcd.url], prefix, now });
        stores.push(store);
        return store;
      };
      await compactAll(etcd.url);
      const cleanup = async (): Promise<void> => {
        for (const store of stores) await store.close();
      };
      return { store: await reopen(), reopen, cleanup };
    },
    {
      'refuses a watcher that compaction overtook':
        'etcd sends events before it compacts them: the watcher gets them all',
      'hands over the very bytes that were written':
        'the bytes come back over the network, equal but not the same',
    },
  );
});

/** A new store has no history; here it shares its revisions with the cases before it. */
async function compactAll(url: string): Promise<void> {
  const client = createEtcdClient({ endpoints: [url] });
  const { revision } = await client.range({ key: 'any', isCountOnly: true });
  await client.compact(revision).catch((error: unknown) => {
    if (!isStoreError(error, 'compacted')) throw error; // As far already.
  });
  client.close();
}
