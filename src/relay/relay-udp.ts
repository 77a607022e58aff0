// Receives datagrams on the loopback and forwards those of each sender from a socket of its own inside, so that replies can be returned.
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { Clock } from '../host/clock.ts';
import type { Endpoint } from './desired.ts';
import type { RelayListener } from './relay-tcp.ts';

export type UdpListener = {
  readonly listen: Endpoint;
  readonly target: Endpoint;
  /** A socket inside, bound to any port. */
  readonly bind: () => Promise<Socket>;
  readonly clock: Clock;
};

/** An idle flow is closed after this time, which is conntrack's for flows with replies. */
const idleMs = 120_000;
/** Of one relay; each is a socket. */
const maxSenders = 256;

/** The socket is undefined if it could not be bound. */
type Flow = { readonly socket: Promise<Socket | undefined>; lastAt: number };

/** Rejects as `socket.bind` does. */
export async function relayUdp({
  listen,
  target,
  bind,
  clock,
}: UdpListener): Promise<RelayListener> {
  const server = createSocket('udp4');
  const flows = new Map<string, Flow>();
  const closeFlow = (key: string, flow: Flow): void => {
    flows.delete(key);
    void flow.socket.then((socket) => socket?.close());
  };
  const openFlow = (key: string, sender: RemoteInfo): Flow => {
    const socket = bind().catch(() => {
      // No descriptor or port is left inside. The next datagram of the sender tries again.
      flows.delete(key);
      return undefined;
    });
    const flow: Flow = { socket, lastAt: clock.now() };
    flows.set(key, flow);
    void socket.then((bound) => {
      bound?.on('message', (bytes) => {
        flow.lastAt = clock.now();
        server.send(bytes, sender.port, sender.address);
      });
      bound?.on('error', () => {});
    });
    return flow;
  };
  server.on('message', (bytes, sender) => {
    const key = `${sender.address}:${sender.port}`;
    const existing = flows.get(key);
    if (existing === undefined && flows.size >= maxSenders) return;
    const flow = existing ?? openFlow(key, sender);
    flow.lastAt = clock.now();
    void flow.socket.then((socket) => socket?.send(bytes, target.port, target.host));
  });
  const listening = once(server, 'listening');
  server.bind({ port: listen.port, address: listen.host, exclusive: true });
  await listening;
  // Errors of single datagrams (ECONNREFUSED, EMSGSIZE): UDP clients retry.
  server.on('error', () => {});
  let cancel = (): void => {};
  const sweep = (): void => {
    for (const [key, flow] of flows) {
      if (clock.now() - flow.lastAt >= idleMs) closeFlow(key, flow);
    }
    cancel = clock.after(idleMs, sweep);
  };
  cancel = clock.after(idleMs, sweep);
  return {
    async close() {
      cancel();
      for (const [key, flow] of [...flows]) closeFlow(key, flow);
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}
