// TCP and UDP relays with real sockets; the network inside is the loopback too.
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

test('relayTcp() forwards both ways, and passes on a half-close', async (t) => {
  // Responds only after the client's FIN.
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
  const relay = await relayTcp({
    listen,
    connect: () => connect({ host, port, allowHalfOpen: true }),
  });
  t.after(() => relay.close());
  const client = connect({ ...listen, allowHalfOpen: true });
  client.end('hello');
  let answer = '';
  for await (const chunk of client) answer += String(chunk);
  assert.equal(answer, 'HELLO');
});

test('relayTcp() resets the client when no server listens inside', async (t) => {
  const closedPort = await freePort();
  const listen = { host, port: await freePort() };
  const relay = await relayTcp({ listen, connect: () => connect({ host, port: closedPort }) });
  t.after(() => relay.close());
  const client = connect(listen);
  await assert.rejects(
    (async () => {
      for await (const _ of client);
    })(),
    { code: 'ECONNRESET' },
  );
});

test('relayTcp() rejects when the port is in use', async (t) => {
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

test('relayUdp() returns each sender the replies to its own datagrams', async (t) => {
  const server = await bound();
  server.on('message', (bytes, { port, address }) =>
    server.send(String(bytes).toUpperCase(), port, address),
  );
  const listen = { host, port: await freePort() };
  const target = { host, port: server.address().port };
  const relay = await relayUdp({ listen, target, bind: bound, clock: systemClock });
  t.after(() => relay.close());
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
