// The recorded API conversations on the embedded engine.
import { type TestContext, test } from 'node:test';
import { type Recordings, replayRecordings } from './replay-recordings.ts';
import { startBinary } from './running-server.ts';

async function replay(
  t: TestContext,
  recordings: Recordings,
  flags: readonly string[] = [],
): Promise<void> {
  const server = await startBinary(flags);
  try {
    await replayRecordings(t, server, recordings);
  } finally {
    await server.stop();
  }
}

test('replay of the recorded API conversations', (t) => replay(t, 'conformance'));

test('replay of the recorded conversations about workloads', (t) =>
  // Recorded with all plugins that are on by default in kube-apiserver.
  replay(t, 'conformance-workloads', ['--enable-admission-plugins', 'ServiceAccount']));
