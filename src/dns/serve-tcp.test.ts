import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { createFakeClock } from '../host/fake-clock.ts';
import type { Answerer } from './answerer.ts';
import { createCounters, makeCounterMemory } from './counters.ts';
import { serveTcp } from './serve-tcp.ts';

const limit = { timeout: 30_000 };

/** Replies to each query with its own bytes. */
const echo: Answerer = {
  handle: (packet, length, out) => packet.copy(out, 0, 0, length),
  pending: () => 0,
  whenIdle: (call) => call(),
  setListener: () => {},
};

async function start(answerer: Answerer) {
  const clock = createFakeClock();
  const listener = await serveTcp({
    address: { host: '127.0.0.1', port: 0 },
    answerer,
    counters: createCounters(makeCounterMemory()),
    now: clock.now,
    clock,
  });
  const socket = connect(listener.address.port, listener.address.host);
  const close = async (): Promise<void> => {
    socket.destroy();
    await listener.close();
  };
  return { clock, socket, close };
}

const query = Buffer.from([0, 3, 1, 2, 3]);

test('serveTcp() closes a connection whose bytes never become a query', limit, async () => {
  const { clock, socket, close } = await start(echo);
  const closed = once(socket, 'close');
  for (let time = 0; time < 2; time += 1) {
    socket.write(query);
    await once(socket, 'data');
    await clock.advance(9000);
    assert.equal(socket.readyState, 'open', 'a query in time keeps the connection');
  }
  socket.write(query);
  await once(socket, 'data');
  // The sender sees each byte acknowledged, so the connection is not idle for the kernel.
  socket.write(Buffer.from([0]));
  await clock.advance(10_000);
  await closed;
  await close();
});

test('serveTcp() leaves a connection open that received a deferred reply', limit, async () => {
  let reply = (): void => {};
  const { clock, socket, close } = await start({
    ...echo,
    handle(packet, _length, _out, peer) {
      const send = peer.deferReply();
      reply = () => send(Buffer.from(packet));
      socket.emit('deferred');
      return 0;
    },
  });
  const deferred = once(socket, 'deferred');
  socket.write(query);
  await deferred;
  await clock.advance(9000);
  const received = once(socket, 'data');
  reply();
  await received;
  await clock.advance(9000);
  assert.equal(socket.readyState, 'open');
  await close();
});
