import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { limitConnections, statusBounds } from './limit-connections.ts';

test('limitConnections() refuses a client over its limit, not others, and admits it again after it disconnects', async () => {
  const server = createServer((_request, response) => response.end('fine'));
  limitConnections(server, { ...statusBounds, maxPerAddress: 2 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const open = async (): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {}); // The server may reset it.
    await once(socket, 'connect');
    return socket;
  };
  const status = (localAddress: string): Promise<unknown> =>
    new Promise((resolve) => {
      get({ port, host: '127.0.0.1', localAddress, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).on('error', () => resolve('refused'));
    });
  try {
    const connections = [await open(), await open()];
    assert.equal(await status('127.0.0.1'), 'refused');
    assert.equal(await status('127.0.0.2'), 200);
    for (const socket of connections) socket.destroy();
    while ((await status('127.0.0.1')) !== 200);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
