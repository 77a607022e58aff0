import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http2';
import { type AddressInfo, connect, createServer as createProxy, type Socket } from 'node:net';
import { test } from 'node:test';
import { GrpcError, openChannel } from './channel.ts';
import { type Activity, mustPing } from './keep-alive.ts';

const longAgo = -100_000;

const cases: readonly {
  readonly title: string;
  readonly activity: Activity;
  readonly isPinged: boolean;
}[] = [
  {
    title: 'an answer that is late',
    activity: { receivedMs: -3000, pingedMs: longAgo, waitingSinceMs: -2500 },
    isPinged: true,
  },
  {
    title: 'a call that has just started on an idle connection',
    activity: { receivedMs: -9000, pingedMs: longAgo, waitingSinceMs: -1000 },
    isPinged: false,
  },
  {
    title: 'a call that waits while other answers come',
    activity: { receivedMs: -100, pingedMs: longAgo, waitingSinceMs: -7000 },
    isPinged: false,
  },
  {
    title: 'a late answer, pinged a moment ago',
    activity: { receivedMs: -3000, pingedMs: -4000, waitingSinceMs: -2500 },
    isPinged: false,
  },
  {
    title: 'a stream without messages',
    activity: { receivedMs: -5000, pingedMs: longAgo },
    isPinged: false,
  },
  {
    title: 'a stream that is idle for long',
    activity: { receivedMs: -11_000, pingedMs: longAgo },
    isPinged: true,
  },
];
for (const { title, activity, isPinged } of cases) {
  test(`mustPing() is ${isPinged} for ${title}`, () => {
    assert.equal(mustPing(activity, 0), isPinged);
  });
}

test('startKeepAlive() fails a call to a server that goes silent long before its timeout', async (t) => {
  const backend = createServer((request) => request.resume()).listen(0, '127.0.0.1');
  const proxy = startSilentProxy(() => (backend.address() as AddressInfo).port);
  await Promise.all([once(backend, 'listening'), once(proxy.server, 'listening')]);
  t.after(() => {
    proxy.close();
    backend.close();
  });
  const { port } = proxy.server.address() as AddressInfo;
  const channel = openChannel(`http://127.0.0.1:${port}`);
  await channel.ready;
  proxy.silence();
  const timeoutMs = 60_000;
  await assert.rejects(channel.call('/any', new Uint8Array(0), timeoutMs), (error) => {
    assert.ok(error instanceof GrpcError);
    assert.match(error.message, /no answer to a ping/);
    return true;
  });
  assert.equal(channel.isUsable(), false);
});

/** Passes bytes on until `silence` is called. */
function startSilentProxy(port: () => number) {
  const sockets = new Set<Socket>();
  const server = createProxy((near) => {
    const far = connect(port(), '127.0.0.1');
    for (const socket of [near, far]) sockets.add(socket.on('error', () => {}));
    near.pipe(far).pipe(near);
  }).listen(0, '127.0.0.1');
  return {
    server,
    silence() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
