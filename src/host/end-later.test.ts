import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { endLater, resetLater } from './end-later.ts';

test('endLater() destroys neither at once nor from microtasks', async () => {
  const seen: string[] = [];
  const done = new Promise<void>((resolve) => {
    endLater({ destroy: () => resolve(void seen.push('ended')) });
  });
  await Promise.resolve();
  await new Promise((resolve) => process.nextTick(resolve));
  seen.push('waited');
  await done;
  assert.deepEqual(seen, ['waited', 'ended']);
});

test('resetLater() sends the error code to the peer', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const session = connect(`http://127.0.0.1:${port}`);
  t.after(() => {
    session.close();
    server.close();
  });
  const calm = 11;
  server.on('stream', (stream) =>
    resetLater(
      stream.on('error', () => {}),
      calm,
    ),
  );
  const stream = session.request({ ':path': '/' });
  stream.on('error', () => {});
  await new Promise((resolve) => stream.once('close', resolve));
  assert.equal(stream.rstCode, calm);
});
