// Relays UDP from one socket to endpoints, on a poll loop, with a socket for each client to assign replies.
import type { DatagramSockets } from '../../../host/datagram-sockets.ts';
import { type PollLoop, readable } from '../../../host/poll-loop.ts';
import { addressKey, socketAddressBytes } from '../../../host/socket-address.ts';
import type { Balancer } from './balance.ts';
import type { Backend } from './relay-address.ts';
import type { RelayCounts } from './relay-tcp.ts';

export type UdpRelayParts = {
  readonly loop: PollLoop;
  readonly sockets: DatagramSockets;
  readonly balancer: Balancer<Backend>;
  readonly counts: RelayCounts;
  /** The session of a client ends after this idle time (USR-06). */
  readonly idleMs: number;
  readonly now: () => number;
};

export type UdpRelay = { readonly port: number; readonly stop: () => void };

type Session = { readonly fd: number; lastUsedMs: number };

/** Datagrams received in one iteration of the loop, for fairness to other relays. */
const maxDatagrams = 64;
/** No datagram is longer. */
const maxDatagramBytes = 65_536;

export function startUdpRelay(parts: UdpRelayParts, address: Buffer): UdpRelay {
  const { loop, sockets, balancer, counts, idleMs, now } = parts;
  const listener = sockets.bind(address);
  const sessions = new Map<string, Session>();
  const bytes = Buffer.allocUnsafe(maxDatagramBytes);
  const sender = Buffer.alloc(socketAddressBytes);
  let isOpen = true;

  const forget = (key: string, { fd }: Session): void => {
    if (sessions.get(key)?.fd !== fd) return;
    sessions.delete(key);
    counts.open -= 1;
    loop.forget(fd);
    sockets.close(fd);
  };
  const forgetWhenIdle = (key: string, session: Session): void => {
    loop.after(idleMs, () => {
      if (sessions.get(key) !== session) return;
      if (now() - session.lastUsedMs >= idleMs) forget(key, session);
      else forgetWhenIdle(key, session);
    });
  };
  const answer = (key: string, session: Session, client: Buffer): void => {
    for (let count = 0; count < maxDatagrams; count += 1) {
      const size = sockets.receive(session.fd, bytes, sender);
      if (size < 0) {
        // Refused: the next datagram of this client tries another endpoint.
        if (size !== wouldBlock) forget(key, session);
        return;
      }
      session.lastUsedMs = now();
      if (isOpen) sockets.sendTo(listener, bytes, size, client);
    }
  };
  const openSession = (key: string): Session | undefined => {
    if (counts.open >= counts.max) {
      counts.refused += 1;
      return undefined;
    }
    const backend = balancer.pick(addressKey(sender));
    const fd = backend === undefined ? -1 : sockets.connect(backend.address);
    if (fd < 0) {
      counts.unanswered += 1;
      return undefined;
    }
    const session: Session = { fd, lastUsedMs: now() };
    const client = Buffer.from(sender.subarray(0, address.length));
    counts.open += 1;
    counts.total += 1;
    sessions.set(key, session);
    loop.add(fd, readable, () => answer(key, session, client));
    forgetWhenIdle(key, session);
    return session;
  };
  const take = (): void => {
    for (let count = 0; count < maxDatagrams && isOpen; count += 1) {
      const size = sockets.receive(listener, bytes, sender);
      if (size < 0) return;
      const key = sender.toString('latin1', 0, address.length);
      const session = sessions.get(key) ?? openSession(key);
      if (session === undefined) continue;
      session.lastUsedMs = now();
      sockets.send(session.fd, bytes, size);
    }
  };
  loop.add(listener, readable, take);
  return {
    port: sockets.localPort(listener),
    stop() {
      isOpen = false;
      loop.forget(listener);
      sockets.close(listener);
      for (const [key, session] of sessions) forget(key, session);
    },
  };
}

const wouldBlock = -11;
