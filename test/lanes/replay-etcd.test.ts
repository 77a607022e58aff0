// The recorded API conversations on a real etcd.
import { type TestContext, test } from 'node:test';
import { etcdMissing, startEtcd } from '../parts/harness/running-etcd.ts';
import { type Recordings, replayRecordings } from './replay-recordings.ts';
import { startBinary } from './running-server.ts';

const skip = etcdMissing() ?? false;

async function replay(
  t: TestContext,
  recordings: Recordings,
  flags: readonly string[] = [],
): Promise<void> {
  const etcd = await startEtcd();
  try {
    const server = await startBinary(['--etcd-servers', etcd.url, ...flags]);
    try {
      await replayRecordings(t, server, recordings);
    } finally {
      await server.stop();
    }
  } finally {
    await etcd.stop();
  }
}

test('replay of the recorded API conversations on etcd', { skip }, (t) => replay(t, 'conformance'));

test('replay of the recorded conversations about workloads on etcd', { skip }, (t) =>
  replay(t, 'conformance-workloads', ['--enable-admission-plugins', 'ServiceAccount']),
);
