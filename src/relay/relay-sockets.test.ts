// Both kinds of door with real sockets; what is inside is the loopback too.
import assert from 'node:assert/strict';
import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { test } from 'node:test';
import { systemClock } from '../host/clock.ts';
import { relayTcp } from './relay-tcp.ts';
import { relayUdp } from './relay-udp.ts';

const host = '127.0.0.1';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

test('relayTcp() carries both ways, and an end of one side does not cut the other', async (t) => {
  // Answers only when the question is over.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += String(chunk);
    });
    socket.on('end', () => socket.end(text.toUpperCase()));
  }).listen(0, host);
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const listen = { host, port: await freePort() };
  const door = await relayTcp({
    listen,
    connect: () => connect({ host, port, allowHalfOpen: true }),
  });
  t.after(() => door.close());
  const client = connect({ ...listen, allowHalfOpen: true });
  client.end('hello');
  let answer = '';
  for await (const chunk of client) answer += String(chunk);
  assert.equal(answer, 'HELLO');
});

test('relayTcp() resets the client where nobody is inside', async (t) => {
  const nobody = await freePort();
  const listen = { host, port: await freePort() };
  const door = await relayTcp({ listen, connect: () => connect({ host, port: nobody }) });
  t.after(() => door.close());
  const client = connect(listen);
  await assert.rejects(
    (async () => {
      for await (const _ of client);
    })(),
    { code: 'ECONNRESET' },
  );
});

test('relayTcp() says that a port is taken', async (t) => {
  const server = createServer().listen(0, host);
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await assert.rejects(
    relayTcp({ listen: { host, port }, connect: () => connect({ host, port }) }),
    {
      code: 'EADDRINUSE',
    },
  );
  server.close();
});

test('relayUdp() brings each sender the answers to its own questions', async (t) => {
  const server = await bound();
  server.on('message', (bytes, { port, address }) =>
    server.send(String(bytes).toUpperCase(), port, address),
  );
  const listen = { host, port: await freePort() };
  const target = { host, port: server.address().port };
  const door = await relayUdp({ listen, target, bind: bound, clock: systemClock });
  t.after(() => door.close());
  const clients = await Promise.all([bound(), bound()]);
  t.after(() => {
    for (const socket of [server, ...clients]) socket.close();
  });
  const answers = await Promise.all(
    clients.map(async (client, index) => {
      const answer = once(client, 'message');
      client.send(`from ${index}`, listen.port, host);
      return String((await answer)[0]);
    }),
  );
  assert.deepEqual(answers, ['FROM 0', 'FROM 1']);
});

async function bound(): Promise<DatagramSocket> {
  const socket = createSocket('udp4').bind(0, host);
  await once(socket, 'listening');
  return socket;
}
