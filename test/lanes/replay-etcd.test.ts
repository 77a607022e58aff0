// The recorded API conversations on a real etcd.
import { test } from 'node:test';
import { etcdMissing, startEtcd } from '../parts/harness/running-etcd.ts';
import { replayRecordings } from './replay-recordings.ts';
import { startBinary } from './running-server.ts';

const skip = etcdMissing() ?? false;

test('replay of the recorded API conversations on etcd', { skip }, async (t) => {
  const etcd = await startEtcd();
  try {
    const server = await startBinary(['--etcd-servers', etcd.url]);
    try {
      await replayRecordings(t, server, 'conformance');
    } finally {
      await server.stop();
    }
  } finally {
    await etcd.stop();
  }
});
