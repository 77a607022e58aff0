// Ports for programs that must know theirs before they listen, or come back to it after an end.
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ephemeral ports of kernels, so that servers and connections of other tests do not use a port of this range before its program
 * listens. Node ports are above.
 */
const range = { first: 20_000, last: 29_999 } as const;
const given = new Set<number>();

/** A port without a listener, over TCP and UDP, that this process has not been given before. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(range.first, range.last + 1);
    if (given.has(port)) continue;
    given.add(port);
    if ((await isFreeForTcp(port)) && (await isFreeForUdp(port))) return port;
  }
}

async function isFreeForTcp(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}

async function isFreeForUdp(port: number): Promise<boolean> {
  const socket = createSocket('udp4').bind(port, '127.0.0.1');
  try {
    await once(socket, 'listening');
  } catch {
    return false;
  } finally {
    socket.close();
  }
  return true;
}
