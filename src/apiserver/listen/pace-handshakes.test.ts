import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { paceHandshakes } from './pace-handshakes.ts';

const timeout = 30_000;

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

type PacedServer = { readonly started: Socket[]; readonly emit: (socket: Socket) => boolean };

/** A paced server whose connections are emitted by the test. */
function openPacedServer(
  isBusy?: () => boolean,
  now?: () => number,
): PacedServer & { readonly waiting: () => number } {
  const started: Socket[] = [];
  const server = createServer((socket) => started.push(socket));
  const { size } = paceHandshakes(server, isBusy ?? (() => false), now);
  return { started, emit: (socket) => server.emit('connection', socket), waiting: size };
}

/** Accepted sockets that no server handles yet. */
async function connections(t: TestContext, from: readonly string[]): Promise<readonly Socket[]> {
  const listener = createServer();
  const port = await listening(listener);
  const pairs: Socket[] = [];
  const accepted: Socket[] = [];
  t.after(() => {
    for (const socket of pairs) socket.destroy();
    listener.close();
  });
  for (const localAddress of from) {
    const coming = once(listener, 'connection');
    const client = connect({ port, host: '127.0.0.1', localAddress });
    client.on('error', () => {});
    const [socket] = (await coming) as [Socket];
    accepted.push(socket);
    pairs.push(client, socket);
  }
  return accepted;
}

test('paceHandshakes() starts one handshake in an iteration of the event loop', {
  timeout,
}, async (t) => {
  const paced = openPacedServer();
  for (const socket of await connections(t, Array(5).fill('127.0.0.1'))) paced.emit(socket);
  assert.equal(paced.waiting(), 5);
  while (paced.started.length < 5 && !t.signal.aborted) {
    const before = paced.started.length;
    await nextIteration();
    const started = paced.started.length - before;
    assert.ok(started <= 1, `${started} have started in one iteration`);
  }
  assert.equal(paced.waiting(), 0);
});

test('paceHandshakes() does not let a burst from one address delay another', {
  timeout,
}, async (t) => {
  const paced = openPacedServer();
  const burst: string[] = Array(10).fill('127.0.0.1');
  const sockets = await connections(t, [...burst, '127.0.0.2']);
  for (const socket of sockets) paced.emit(socket);
  while (paced.started.length < sockets.length && !t.signal.aborted) await nextIteration();
  assert.equal(paced.started.indexOf(sockets.at(-1) as Socket), 1);
});

test('paceHandshakes() skips connections that close while they wait, and serves those behind them', {
  timeout,
}, async (t) => {
  const paced = openPacedServer();
  const sockets = await connections(t, Array(9).fill('127.0.0.1'));
  for (const socket of sockets) paced.emit(socket);
  // All but the last, which must still be served.
  for (const socket of sockets.slice(0, -1)) socket.destroy(new Error('reset'));
  while (paced.waiting() > 0 && !t.signal.aborted) await nextIteration();
  assert.deepEqual(paced.started, sockets.slice(-1));
  // And one that comes after the queue was empty.
  const [late] = (await connections(t, ['127.0.0.1'])) as [Socket];
  paced.emit(late);
  while (paced.waiting() > 0 && !t.signal.aborted) await nextIteration();
  assert.deepEqual(paced.started, [sockets.at(-1), late]);
});

test('paceHandshakes() delays connections while the event loop is busy, but not forever', {
  timeout,
}, async (t) => {
  let checks = 0;
  let nowMs = 0;
  const isBusy = (): boolean => {
    checks += 1;
    return true;
  };
  // Each reading of the clock advances it by a millisecond.
  const paced = openPacedServer(isBusy, () => nowMs++);
  for (const socket of await connections(t, Array(3).fill('127.0.0.1'))) paced.emit(socket);
  while (paced.started.length < 1 && !t.signal.aborted) await nextIteration();
  assert.equal(checks, 0, 'the first does not wait');
  while (paced.waiting() > 0 && !t.signal.aborted) await nextIteration();
  assert.equal(paced.started.length, 3);
  assert.ok(checks >= 2, `isBusy() was called ${checks} times`);
});
