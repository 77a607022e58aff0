// The recorded API conversations on the embedded engine.
import { test } from 'node:test';
import { replayRecordings } from './replay-recordings.ts';
import { startBinary } from './running-server.ts';

test('replay of the recorded API conversations', async (t) => {
  const server = await startBinary();
  try {
    await replayRecordings(t, server);
  } finally {
    await server.stop();
  }
});
