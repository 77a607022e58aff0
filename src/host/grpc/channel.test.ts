import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { GrpcError, openChannel } from './channel.ts';

test('openChannel() survives a close at the moment the connection is established', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const channel = openChannel(`http://127.0.0.1:${port}`, {
    createConnection() {
      const socket = connect(port, '127.0.0.1');
      // After the session's own listener, and before the session emits 'connect'.
      queueMicrotask(() => socket.once('connect', () => channel.close()));
      return socket;
    },
  });
  // Whether it was ready for a moment is a matter of timing.
  await Promise.allSettled([channel.ready]);
  assert.equal(channel.isUsable(), false);
  await assert.rejects(channel.call('/any', new Uint8Array(0), 1000), /closed/);
});

test('openChannel() refuses a response above its limit', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  server.on('stream', (stream) => {
    stream.on('error', () => {}); // The client resets it.
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
    stream.write(Buffer.from([0, 0xff, 0xff, 0xff, 0xff]));
  });
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const channel = openChannel(`http://127.0.0.1:${port}`);
  t.after(() => channel.close());
  await assert.rejects(channel.call('/any', new Uint8Array(0)), (error) => {
    assert.ok(error instanceof GrpcError && !error.isFromServer);
    assert.match(error.message, /a message of 4294967295 bytes, more than 4194304/);
    return true;
  });
});
