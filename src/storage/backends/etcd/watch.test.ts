import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { StoreError } from '../../store-error.ts';
import type { EtcdClient } from './client.ts';
import { followRange } from './watch.ts';

const unused = (): never => assert.fail('is not called');
const silent: Omit<EtcdClient, 'openWatch'> = {
  ...{ range: unused, transact: unused, compact: unused },
  ...{ grantLease: unused, leaseSeconds: unused, close: unused },
};

test('followRange() retries until its signal aborts, and leaves no listener on it', async () => {
  const end = new AbortController();
  const listening: number[] = [];
  const client: EtcdClient = {
    ...silent,
    async openWatch() {
      listening.push(getEventListeners(end.signal, 'abort').length);
      if (listening.length === 4) end.abort();
      throw new StoreError('unavailable', 'Cannot reach etcd: it is down');
    },
  };
  const options = { client, prefix: '/p', under: '', afterRevision: 1, signal: end.signal };
  for await (const _ of followRange(options)) assert.fail('nothing comes');
  assert.deepEqual(listening, [0, 0, 0, 0]);
});
