import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { paceHandshakes } from './pace-handshakes.ts';

const timeout = 30_000;

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

type Line = { readonly begun: Socket[]; readonly come: (socket: Socket) => boolean };

/** A server that is paced, into which connections come by hand. */
function openLine(
  isBusy?: () => boolean,
  now?: () => number,
): Line & { readonly waiting: () => number } {
  const begun: Socket[] = [];
  const server = createServer((socket) => begun.push(socket));
  const { size } = paceHandshakes(server, isBusy ?? (() => false), now);
  return { begun, come: (socket) => server.emit('connection', socket), waiting: size };
}

/** Connected already, and in the hands of nobody. */
async function connections(t: TestContext, from: readonly string[]): Promise<readonly Socket[]> {
  const door = createServer();
  const port = await listening(door);
  const pairs: Socket[] = [];
  const accepted: Socket[] = [];
  t.after(() => {
    for (const socket of pairs) socket.destroy();
    door.close();
  });
  for (const localAddress of from) {
    const coming = once(door, 'connection');
    const client = connect({ port, host: '127.0.0.1', localAddress });
    client.on('error', () => {});
    const [socket] = (await coming) as [Socket];
    accepted.push(socket);
    pairs.push(client, socket);
  }
  return accepted;
}

test('connections begin one by one', { timeout }, async (t) => {
  const line = openLine();
  for (const socket of await connections(t, Array(5).fill('127.0.0.1'))) line.come(socket);
  assert.equal(line.waiting(), 5);
  while (line.begun.length < 5 && !t.signal.aborted) {
    const before = line.begun.length;
    await turn();
    const begun = line.begun.length - before;
    assert.ok(begun <= 1, `${begun} have begun in one turn`);
  }
  assert.equal(line.waiting(), 0);
});

test('who comes from elsewhere does not wait for the whole crowd', { timeout }, async (t) => {
  const line = openLine();
  const burst: string[] = Array(10).fill('127.0.0.1');
  const sockets = await connections(t, [...burst, '127.0.0.2']);
  for (const socket of sockets) line.come(socket);
  while (line.begun.length < sockets.length && !t.signal.aborted) await turn();
  assert.equal(line.begun.indexOf(sockets.at(-1) as Socket), 1);
});

test('of those who go while they wait none begins, and nobody behind them is forgotten', {
  timeout,
}, async (t) => {
  const line = openLine();
  const sockets = await connections(t, Array(9).fill('127.0.0.1'));
  for (const socket of sockets) line.come(socket);
  // All but one, the last: its turn must come although those before it took theirs with them.
  for (const socket of sockets.slice(0, -1)) socket.destroy(new Error('reset'));
  while (line.waiting() > 0 && !t.signal.aborted) await turn();
  assert.deepEqual(line.begun, sockets.slice(-1));
  // And who comes after a line that has run dry.
  const [late] = (await connections(t, ['127.0.0.1'])) as [Socket];
  line.come(late);
  while (line.waiting() > 0 && !t.signal.aborted) await turn();
  assert.deepEqual(line.begun, [sockets.at(-1), late]);
});

test('while the loop is busy newcomers wait, but not for ever', { timeout }, async (t) => {
  let asked = 0;
  let nowMs = 0;
  const isBusy = (): boolean => {
    asked += 1;
    return true;
  };
  // Each look at the clock takes a millisecond, however long the machine takes for it.
  const line = openLine(isBusy, () => nowMs++);
  for (const socket of await connections(t, Array(3).fill('127.0.0.1'))) line.come(socket);
  while (line.begun.length < 1 && !t.signal.aborted) await turn();
  assert.equal(asked, 0, 'the first had nobody before it');
  while (line.waiting() > 0 && !t.signal.aborted) await turn();
  assert.equal(line.begun.length, 3);
  assert.ok(asked >= 2, `asked ${asked} times`);
});
