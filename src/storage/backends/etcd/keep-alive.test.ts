import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http2';
import { type AddressInfo, connect, createServer as createLine, type Socket } from 'node:net';
import { test } from 'node:test';
import { GrpcError, openChannel } from './grpc.ts';
import { mustPing, type Quiet } from './keep-alive.ts';

const longAgo = -100_000;

const cases: readonly {
  readonly title: string;
  readonly quiet: Quiet;
  readonly isPinged: boolean;
}[] = [
  {
    title: 'an answer that is late',
    quiet: { observedMs: -3000, pingedMs: longAgo, awaitedSinceMs: -2500 },
    isPinged: true,
  },
  {
    title: 'a call that has only begun, after a quiet time',
    quiet: { observedMs: -9000, pingedMs: longAgo, awaitedSinceMs: -1000 },
    isPinged: false,
  },
  {
    title: 'a call that waits while other answers come',
    quiet: { observedMs: -100, pingedMs: longAgo, awaitedSinceMs: -7000 },
    isPinged: false,
  },
  {
    title: 'a late answer, asked for a moment ago',
    quiet: { observedMs: -3000, pingedMs: -4000, awaitedSinceMs: -2500 },
    isPinged: false,
  },
  {
    title: 'a watch without changes',
    quiet: { observedMs: -5000, pingedMs: longAgo },
    isPinged: false,
  },
  {
    title: 'a watch that was quiet for long',
    quiet: { observedMs: -11_000, pingedMs: longAgo },
    isPinged: true,
  },
];
for (const { title, quiet, isPinged } of cases) {
  test(`${isPinged ? 'asks' : 'does not ask'} whether anybody is there: ${title}`, () => {
    assert.equal(mustPing(quiet, 0), isPinged);
  });
}

test('a call to a member that goes silent fails long before its own limit', async (t) => {
  const member = createServer((request) => request.resume()).listen(0, '127.0.0.1');
  const line = createSilentLine(() => (member.address() as AddressInfo).port);
  await Promise.all([once(member, 'listening'), once(line.server, 'listening')]);
  t.after(() => {
    line.close();
    member.close();
  });
  const { port } = line.server.address() as AddressInfo;
  const channel = openChannel(`http://127.0.0.1:${port}`, {});
  await channel.ready;
  line.silence();
  const limitMs = 60_000;
  await assert.rejects(channel.call('/any', new Uint8Array(0), limitMs), (error) => {
    assert.ok(error instanceof GrpcError);
    assert.match(error.message, /no answer to a ping/);
    return true;
  });
  assert.equal(channel.isUsable(), false);
});

/** Passes bytes on until it is told to keep them. */
function createSilentLine(port: () => number) {
  const sockets = new Set<Socket>();
  const server = createLine((near) => {
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
