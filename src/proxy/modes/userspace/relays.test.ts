// Both ways to relay, with real sockets on loopback: they must not differ in what a client sees.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { HostPort } from './relay-address.ts';
import { startPortableRelays } from './relay-portable.ts';
import type { Relays } from './relays.ts';
import { startRelayThread } from './run-relay-thread.ts';

const ways = { 'on a thread': startRelayThread, 'on Node sockets': startPortableRelays };
const listen = { ip: '127.0.0.1', port: 0 };
/** The discard port of an unused loopback address, on which nothing listens. */
const closedPort: HostPort = { ip: '127.77.77.77', port: 9 };

/** Sends back its name and, after the client has ended, how much it was sent. */
async function startBackend(name: string): Promise<{ server: Server; endpoint: HostPort }> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let received = 0;
    socket.write(`${name}:`);
    socket.on('data', (bytes) => {
      received += bytes.length;
    });
    socket.on('end', () => socket.end(String(received)));
    socket.on('error', () => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, endpoint: { ip: '127.0.0.1', port: (server.address() as AddressInfo).port } };
}

/** What the other side says to a client that sends this and ends its half. */
async function ask(port: number, sent: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.end(sent);
  let received = '';
  socket.setEncoding('utf8');
  socket.on('data', (text) => {
    received += String(text);
  });
  await once(socket, 'close');
  return received;
}

/** Exactly so many bytes. */
async function take(socket: Socket, bytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let left = bytes; left > 0; ) {
    const part = socket.read(Math.min(left, socket.readableLength || left)) as Buffer | null;
    if (part === null) await once(socket, 'readable');
    else {
      parts.push(part);
      left -= part.length;
    }
  }
  return Buffer.concat(parts);
}

async function isReset(port: number): Promise<boolean> {
  const socket: Socket = connect({ port, host: '127.0.0.1' });
  // A reset can come before or after the client has seen its connection.
  const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
  return error.code === 'ECONNRESET' || error.code === 'ECONNREFUSED';
}

type World = { relays: Relays; a: HostPort; b: HostPort };

for (const [way, start] of Object.entries(ways)) {
  describe(`relays ${way}`, () => {
    // Filled before the first test.
    const world = {} as World;
    const servers: Server[] = [];
    before(async () => {
      const [a, b] = await Promise.all([startBackend('a'), startBackend('b')]);
      servers.push(a.server, b.server);
      world.a = a.endpoint;
      world.b = b.endpoint;
      world.relays = start({ maxConnections: 8, udpIdleMs: 250 });
    });
    after(async () => {
      await world.relays.stop();
      for (const server of servers) server.close();
    });
    testConnections(world);
    testLimits(world);
    testDatagrams(world);
    testBytes(world);
    testCounts(world);
  });
}

function testConnections(world: World): void {
  test('carry both ways, and one half after the other has ended, which upstream does not (USR-08)', async () => {
    const port = await world.relays.open({
      ...{ id: 'half', protocol: 'TCP', listen },
      endpoints: [world.a],
    });
    assert.equal(await ask(port, 'hello'), 'a:5');
    assert.equal(await ask(port, 'x'.repeat(5_000_000)), 'a:5000000');
  });

  test('go round the endpoints, connection by connection (USR-02, KPX-57)', async () => {
    const port = await world.relays.open({
      ...{ id: 'round', protocol: 'TCP', listen },
      endpoints: [world.a, world.b],
    });
    const received = [await ask(port, ''), await ask(port, '')];
    assert.deepEqual(received.sort(), ['a:0', 'b:0']);
  });

  test('try another endpoint when one does not answer (USR-03)', async () => {
    const port = await world.relays.open({
      ...{ id: 'retry', protocol: 'TCP', listen },
      endpoints: [closedPort, world.a],
    });
    for (let round = 0; round < 4; round += 1) assert.equal(await ask(port, ''), 'a:0');
  });

  test('reset a client when no endpoint answers, and count it', async () => {
    const before = await world.relays.totals();
    const port = await world.relays.open({
      ...{ id: 'unanswered', protocol: 'TCP', listen },
      endpoints: [closedPort],
    });
    assert.ok(await isReset(port));
    assert.equal((await world.relays.totals()).unanswered, before.unanswered + 1);
  });

  test('keep a connection when its endpoint and its relay go (USR-09)', async () => {
    const id = 'lasting';
    const port = await world.relays.open({ id, protocol: 'TCP', listen, endpoints: [world.a] });
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    await once(socket, 'data');
    world.relays.update({ id, endpoints: [world.b] });
    assert.equal(await ask(port, ''), 'b:0');
    world.relays.close(id);
    // An answer says that the close before it was done.
    await world.relays.totals();
    assert.ok(await isReset(port));
    socket.end('still here');
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    assert.equal(bytes.toString(), '10');
  });
}

function testBytes(world: World): void {
  test('carry little and much, in pieces and at once, each byte once and in order', async () => {
    const echo = createServer((socket) => socket.pipe(socket));
    echo.listen(0, '127.0.0.1');
    await once(echo, 'listening');
    const { port: echoPort } = echo.address() as AddressInfo;
    const port = await world.relays.open({
      ...{ id: 'echo', protocol: 'TCP', listen },
      endpoints: [{ ip: '127.0.0.1', port: echoPort }],
    });
    const socket = connect({ port, host: '127.0.0.1' });
    // Below, at and above what is carried in one piece, and small again after large.
    for (const size of [1, 16_383, 16_384, 16_385, 3, 1_000_000, 2, 70_000]) {
      const sent = Buffer.from(Uint8Array.from({ length: size }, (_, n) => (n * 7 + size) % 251));
      socket.write(sent);
      assert.ok((await take(socket, size)).equals(sent), `${size} bytes`);
    }
    socket.destroy();
    echo.close();
  });

  test('let a slow reader slow the writer down, and lose nothing', async () => {
    const total = 8_000_000;
    const source = createServer((socket) => socket.end(Buffer.alloc(total, 'abcdefg')));
    source.listen(0, '127.0.0.1');
    await once(source, 'listening');
    const { port: sourcePort } = source.address() as AddressInfo;
    const port = await world.relays.open({
      ...{ id: 'slow', protocol: 'TCP', listen },
      endpoints: [{ ip: '127.0.0.1', port: sourcePort }],
    });
    const socket = connect({ port, host: '127.0.0.1' });
    await once(socket, 'readable');
    // Nothing is read until the relay has nowhere to put more: it answers, so it is not stuck in a write.
    await world.relays.totals();
    assert.ok((await take(socket, total)).equals(Buffer.alloc(total, 'abcdefg')));
    socket.destroy();
    source.close();
  });
}

function testLimits(world: World): void {
  test('carry no more connections than they may', async () => {
    const port = await world.relays.open({
      ...{ id: 'limit', protocol: 'TCP', listen },
      endpoints: [world.a],
    });
    const { open, refused } = await world.relays.totals();
    const sockets: Socket[] = [];
    for (let count = open; count < 8; count += 1) {
      const socket = connect({ port, host: '127.0.0.1' });
      await once(socket, 'data');
      sockets.push(socket);
    }
    assert.ok(await isReset(port));
    assert.equal((await world.relays.totals()).refused, refused + 1);
    for (const socket of sockets) {
      socket.end();
      await once(socket, 'close');
    }
  });

  test('say why they cannot listen', async () => {
    const taken = world.a;
    await assert.rejects(
      world.relays.open({ id: 'taken', protocol: 'TCP', listen: taken, endpoints: [] }),
      /EADDRINUSE/,
    );
  });
}

function testCounts(world: World): void {
  const countsOf = async (id: string) => {
    const carried = await world.relays.carried();
    return carried.find((one) => one.id === id)?.endpoints ?? [];
  };
  test('count connections and bytes by endpoint, and name those with the most', async () => {
    const relay = { id: 'counted', protocol: 'TCP', listen } as const;
    const port = await world.relays.open({ ...relay, endpoints: [world.a] });
    assert.equal(await ask(port, 'hello'), 'a:5');
    let [ended] = await countsOf('counted');
    while ((ended?.open ?? 1) > 0) [ended] = await countsOf('counted');
    assert.deepEqual([ended?.ip, ended?.port], [world.a.ip, world.a.port]);
    assert.deepEqual([ended?.opened, ended?.open, ended?.clients], [1, 0, 0]);
    assert.deepEqual([ended?.bytesIn, ended?.bytesOut, ended?.busiest], [5, 3, []]);
    const socket = connect({ port, host: '127.0.0.1' });
    socket.write('x'.repeat(100_000));
    assert.equal(String(await take(socket, 2)), 'a:');
    const client = `127.0.0.1:${socket.localPort}`;
    let [open] = await countsOf('counted');
    const first = open?.busiest[0];
    while ((open?.bytesIn ?? 0) < 100_005) [open] = await countsOf('counted');
    assert.deepEqual([open?.opened, open?.open, open?.clients], [2, 1, 1]);
    assert.deepEqual([open?.bytesIn, open?.bytesOut, first?.client], [100_005, 5, client]);
    // Busy is who has moved bytes since the last reading.
    assert.deepEqual((await countsOf('counted'))[0]?.busiest, []);
    const closed = once(socket, 'close');
    socket.end();
    socket.resume();
    await closed;
    while ((open?.open ?? 0) > 0) [open] = await countsOf('counted');
    world.relays.update({ ...relay, endpoints: [world.b] });
    assert.deepEqual(await countsOf('counted'), []);
  });
}

function testDatagrams(world: World): void {
  test('carry datagrams and bring the answers back', async () => {
    const server = createSocket('udp4');
    server.on('message', (message, { port, address }) =>
      server.send(`re: ${message}`, port, address),
    );
    server.bind(0, '127.0.0.1');
    await once(server, 'listening');
    const endpoint = { ip: '127.0.0.1', port: server.address().port };
    const port = await world.relays.open({
      ...{ id: 'udp', protocol: 'UDP', listen },
      endpoints: [endpoint],
    });
    const client = createSocket('udp4');
    for (const text of ['one', 'two']) {
      client.send(text, port, '127.0.0.1');
      const [message] = (await once(client, 'message')) as [Buffer];
      assert.equal(message.toString(), `re: ${text}`);
    }
    const carried = (await world.relays.carried()).find(({ id }) => id === 'udp');
    const { opened, bytesIn, bytesOut } = carried?.endpoints[0] ?? {};
    assert.deepEqual([opened, bytesIn, bytesOut], [1, 6, 14]);
    client.close();
    server.close();
  });

  test('show each UDP client to the endpoint as a sender of its own (USR-06)', async () => {
    const server = createSocket('udp4');
    // The endpoint answers with the port that it sees.
    server.on('message', (_, { port, address }) => server.send(String(port), port, address));
    server.bind(0, '127.0.0.1');
    await once(server, 'listening');
    const port = await world.relays.open({
      ...{ id: 'udp-senders', protocol: 'UDP', listen },
      endpoints: [{ ip: '127.0.0.1', port: server.address().port }],
    });
    const clients = [createSocket('udp4'), createSocket('udp4')];
    const seen = await Promise.all(
      clients.map(async (client) => {
        const answered = once(client, 'message');
        client.send('who am I?', port, '127.0.0.1');
        const [message] = (await answered) as [Buffer];
        return message.toString();
      }),
    );
    for (const socket of [...clients, server]) socket.close();
    assert.equal(new Set(seen).size, 2);
  });
}
