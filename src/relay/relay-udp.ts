// Takes datagrams on the loopback and speaks for each sender from a socket of its own inside, so that answers find their way back.
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

/** A sender that was silent for so long is forgotten, as conntrack does with flows that were answered. */
const idleMs = 120_000;
/** Of one relay; each is a socket. */
const maxSenders = 256;

type Flow = { readonly socket: Promise<Socket>; lastAt: number };

/** Rejects as `socket.bind` does. */
export async function relayUdp({
  listen,
  target,
  bind,
  clock,
}: UdpListener): Promise<RelayListener> {
  const door = createSocket('udp4');
  const flows = new Map<string, Flow>();
  const forget = (key: string, flow: Flow): void => {
    flows.delete(key);
    void flow.socket.then((socket) => socket.close()).catch(() => {});
  };
  const openFlow = (key: string, sender: RemoteInfo): Flow => {
    const flow: Flow = { socket: bind(), lastAt: clock.now() };
    flows.set(key, flow);
    void flow.socket.then(
      (socket) => {
        socket.on('message', (bytes) => {
          flow.lastAt = clock.now();
          door.send(bytes, sender.port, sender.address);
        });
        // About single datagrams: whoever sent them asks again.
        socket.on('error', () => {});
      },
      () => flows.delete(key),
    );
    return flow;
  };
  door.on('message', (bytes, sender) => {
    const key = `${sender.address}:${sender.port}`;
    const known = flows.get(key);
    if (known === undefined && flows.size >= maxSenders) return;
    const flow = known ?? openFlow(key, sender);
    flow.lastAt = clock.now();
    void flow.socket.then((socket) => socket.send(bytes, target.port, target.host)).catch(() => {});
  });
  const listening = once(door, 'listening');
  door.bind({ port: listen.port, address: listen.host, exclusive: true });
  await listening;
  door.on('error', () => {});
  let cancel = (): void => {};
  const sweep = (): void => {
    for (const [key, flow] of flows) {
      if (clock.now() - flow.lastAt >= idleMs) forget(key, flow);
    }
    cancel = clock.after(idleMs, sweep);
  };
  cancel = clock.after(idleMs, sweep);
  return {
    async close() {
      cancel();
      for (const [key, flow] of [...flows]) forget(key, flow);
      const closed = once(door, 'close');
      door.close();
      await closed;
    },
  };
}
