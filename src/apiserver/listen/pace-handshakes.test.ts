import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { paceHandshakes } from './pace-handshakes.ts';

const timeout = 30_000;

test('connections begin one by one, and those that are gone do not', { timeout }, async (t) => {
  const begun: Socket[] = [];
  const server = createServer((socket) => begun.push(socket));
  paceHandshakes(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const clients = Array.from({ length: 5 }, () => connect(port, '127.0.0.1'));
  t.after(() => {
    for (const socket of [...clients, ...begun]) socket.destroy();
    server.close();
  });
  await Promise.all(clients.map((client) => once(client, 'connect')));
  while (begun.length < 5) {
    const before = begun.length;
    await turn();
    assert.ok(begun.length <= before + 1, `${begun.length - before} have begun in one turn`);
  }
});

test('a client that resets its connection while it waits does no harm', { timeout }, async (t) => {
  const begun: Socket[] = [];
  const server = createServer((socket) => begun.push(socket));
  paceHandshakes(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  // Held back by hand: the error must come while nobody but the queue knows the connection.
  const waiting = once(server, 'connection');
  const client = connect(port, '127.0.0.1');
  const [socket] = (await waiting) as [Socket];
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.destroy(new Error('reset'));
  await closed;
  await turn();
  await turn();
  assert.deepEqual(begun, []);
  client.destroy();
});
