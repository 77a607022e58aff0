// A crowd at the door: whoever says hello is let in and answered, whatever those around it do.
import assert from 'node:assert/strict';
import { connect as connectPlain, type Socket } from 'node:net';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createMetrics } from '../../observe/metrics.ts';
import { createServerMetrics } from '../metrics.ts';
import { type Client, client1, client2, jane, start, text } from './example.ts';

const timeout = 60_000;
/** Of each sort. */
const each = 20;

/** Those who do not get as far as a request: gone at once, gone with half a hello, half closed, and no hello at all. */
const troubles: readonly ((socket: Socket) => unknown)[] = [
  (socket) => socket.destroy(),
  (socket) => socket.write(Buffer.from([22, 3, 1, 2, 0, 1, 0]), () => socket.resetAndDestroy()),
  (socket) => socket.end(Buffer.from([22, 3, 1, 2, 0, 1, 0])),
  (socket) => socket.write('GET / HTTP/1.1\r\n\r\n'),
  (socket) => socket.write(Buffer.alloc(100_000, 'x')),
];

function makeTrouble(port: number, kind: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connectPlain(port, '127.0.0.1', () =>
      troubles[kind % troubles.length]?.(socket),
    );
    socket.on('error', () => {});
    socket.on('close', () => resolve());
    socket.resume();
  });
}

test('of a crowd that comes at once everybody who asks is answered', { timeout }, async (t) => {
  const registry = createMetrics();
  const server = await start(async () => text('hello'), { metrics: createServerMetrics(registry) });
  const value = (name: string): number =>
    Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(registry.text())?.[1]);
  const { port } = server.address;
  const gone: Promise<void>[] = [];
  const clients: Client[] = [];
  for (let at = 0; at < each; at += 1) {
    clients.push(client1(server, jane), client2(server, jane), client1(server), client2(server));
    for (let kind = 0; kind < troubles.length; kind += 1) gone.push(makeTrouble(port, kind));
  }
  const answers = await Promise.all(
    // More than one for each: over HTTP/2, those that come right behind the handshake too.
    clients.flatMap((client) => [client.send({}), client.send({ path: '/second' })]),
  );
  assert.deepEqual([...new Set(answers.map((answer) => answer.text))], ['hello']);
  await Promise.all(gone);
  for (const client of clients) client.close();
  while (value('fairlead_apiserver_open_connections') > 0 && !t.signal.aborted) await turn();
  assert.equal(value('fairlead_apiserver_waiting_connections'), 0);
  await server.drain();
});
