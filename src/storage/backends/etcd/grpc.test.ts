import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { openChannel } from './grpc.ts';

test('a connection that is given up in the moment it stands harms nobody', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const channel = openChannel(`http://127.0.0.1:${port}`, {
    createConnection() {
      const socket = connect(port, '127.0.0.1');
      // After the session's own listener, and before it tells that it stands.
      queueMicrotask(() => socket.once('connect', () => channel.close()));
      return socket;
    },
  });
  await channel.ready.catch(() => {});
  assert.equal(channel.isUsable(), false);
  await assert.rejects(channel.call('/any', new Uint8Array(0), 1000), /closed/);
});
