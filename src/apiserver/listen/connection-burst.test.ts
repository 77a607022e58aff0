// A burst of connections: clients that send requests are answered, whatever other connections do.
import assert from 'node:assert/strict';
import { connect as connectPlain, type Socket } from 'node:net';
import { test } from 'node:test';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { createMetrics } from '../../observe/metrics.ts';
import { createServerMetrics } from '../metrics.ts';
import { type Client, connectHttp1, connectHttp2, jane, start, text } from './example.ts';

const timeout = 60_000;
/** Of each kind. */
const each = 20;

/** Connections without a request: closed at once, reset after half a ClientHello, half closed, and not TLS at all. */
const brokenClients: readonly ((socket: Socket) => unknown)[] = [
  (socket) => socket.destroy(),
  (socket) => socket.write(Buffer.from([22, 3, 1, 2, 0, 1, 0]), () => socket.resetAndDestroy()),
  (socket) => socket.end(Buffer.from([22, 3, 1, 2, 0, 1, 0])),
  (socket) => socket.write('GET / HTTP/1.1\r\n\r\n'),
  (socket) => socket.write(Buffer.alloc(100_000, 'x')),
];

function connectBroken(port: number, kind: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connectPlain(port, '127.0.0.1', () =>
      brokenClients[kind % brokenClients.length]?.(socket),
    );
    socket.on('error', () => {});
    socket.on('close', () => resolve());
    socket.resume();
  });
}

test('startServer() answers all requests of a burst of connections', { timeout }, async (t) => {
  const registry = createMetrics();
  const server = await start(async () => text('hello'), { metrics: createServerMetrics(registry) });
  const value = (name: string): number =>
    Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(registry.text())?.[1]);
  const { port } = server.address;
  const closed: Promise<void>[] = [];
  const clients: Client[] = [];
  for (let at = 0; at < each; at += 1) {
    clients.push(
      connectHttp1(server, jane),
      connectHttp2(server, jane),
      connectHttp1(server),
      connectHttp2(server),
    );
    for (let kind = 0; kind < brokenClients.length; kind += 1)
      closed.push(connectBroken(port, kind));
  }
  const answers = await Promise.all(
    // Two each: over HTTP/2, the second one arrives right behind the handshake.
    clients.flatMap((client) => [client.send({}), client.send({ path: '/second' })]),
  );
  assert.deepEqual([...new Set(answers.map((answer) => answer.text))], ['hello']);
  await Promise.all(closed);
  for (const client of clients) client.close();
  while (value('fairlead_apiserver_open_connections') > 0 && !t.signal.aborted)
    await nextIteration();
  assert.equal(value('fairlead_apiserver_waiting_connections'), 0);
  await server.drain();
});
