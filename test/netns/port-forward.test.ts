// port-forward reaches the loopback addresses of a pod's own network, which nothing else can.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { runCommand } from '../../src/host/exec.ts';
import { listenInside } from '../../src/host/namespace-sockets.ts';
import { createNamespace } from '../../src/host/namespaces.ts';
import { createHeaderWriter } from '../../src/node/streams/read-spdy-headers.ts';
import { serveSpdyForward } from '../../src/node/streams/serve-port-forward.ts';
import {
  createFrameReader,
  dataFrame,
  type SpdyFrame,
  synStreamFrame,
} from '../../src/node/streams/spdy-frames.ts';

const textOf = (frames: readonly SpdyFrame[], id: number): string =>
  Buffer.concat(
    frames.flatMap((frame) => (frame.kind === 'data' && frame.stream === id ? [frame.bytes] : [])),
  ).toString();
const isEnded = (frames: readonly SpdyFrame[], id: number): boolean =>
  frames.some((frame) => frame.kind === 'data' && frame.stream === id && frame.isFinal);

async function pair(): Promise<readonly [Socket, Socket]> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const accepted = once(listener, 'connection') as Promise<[Socket]>;
  const client = connect({ host: '127.0.0.1', port: (listener.address() as AddressInfo).port });
  const [server] = await accepted;
  listener.close();
  return [client, server];
}

for (const host of ['127.0.0.1', '::1']) {
  test(`port-forward dials ${host} inside of the pod's network`, { timeout: 30_000 }, async (t) => {
    const pod = createNamespace();
    t.after(() => pod.release());
    const argv = ['ip', 'link', 'set', 'lo', 'up'] as const;
    await runCommand({ argv: [...argv], namespacePath: pod.path });
    const inside = createServer((socket) => socket.pipe(socket));
    inside.listen({ fd: listenInside(pod.path, { host, port: 7000 }) });
    await once(inside, 'listening');
    t.after(() => inside.close());
    const [client, server] = await pair();
    t.after(() => client.destroy());
    const forwarding = serveSpdyForward(server, {
      name: 'web',
      uid: 'u',
      namespacePath: pod.path,
    });
    const frames: SpdyFrame[] = [];
    const read = createFrameReader();
    client.on('data', (chunk: Buffer) => {
      frames.push(...read(chunk));
      client.emit('frames');
    });
    const write = createHeaderWriter();
    const open = (id: number, streamType: string, port: string): void => {
      const headers = write({ streamType, port, requestID: port });
      client.write(synStreamFrame(id, headers));
    };
    open(1, 'error', '7000');
    open(3, 'data', '7000');
    client.write(dataFrame(3, Buffer.from('hello')));
    client.write(dataFrame(3, Buffer.alloc(0), true));
    while (!isEnded(frames, 3)) await once(client, 'frames');
    assert.equal(textOf(frames, 3), 'hello');
    open(5, 'error', '7001');
    open(7, 'data', '7001');
    while (!isEnded(frames, 5)) await once(client, 'frames');
    assert.match(
      textOf(frames, 5),
      /^error forwarding port 7001 to pod web, uid u: failed to connect to localhost:7001 .*IPv4: dial tcp4 127\.0\.0\.1:7001: connect: connection refused IPv6 dial tcp6 \[::1\]:7001: connect: connection refused$/,
    );
    client.end();
    await forwarding;
  });
}
