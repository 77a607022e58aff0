// Relays UDP from one socket to endpoints, on a poll loop, with a socket for each client to assign replies.
import type { DatagramSockets } from '../../../host/datagram-sockets.ts';
import { type PollLoop, readable } from '../../../host/poll-loop.ts';
import { addressKey, portOf, socketAddressBytes, textOf } from '../../../host/socket-address.ts';
import type { Balancer } from './balance.ts';
import type { Backend } from './relay-address.ts';
import type { RelayTally } from './relay-counts.ts';
import type { RelayCounts } from './relay-tcp.ts';

export type UdpRelayParts = {
  readonly loop: PollLoop;
  readonly sockets: DatagramSockets;
  readonly balancer: Balancer<Backend>;
  readonly counts: RelayCounts;
  readonly tally: RelayTally;
  /** The session of a client ends after this idle time (USR-06). */
  readonly idleMs: number;
  readonly now: () => number;
};

export type UdpRelay = { readonly port: number; readonly stop: () => void };

type Session = {
  readonly fd: number;
  lastUsedMs: number;
  readonly up: { moved: number };
  readonly down: { moved: number };
  readonly ended: () => void;
};

/** Datagrams received in one iteration of the loop, for fairness to other relays. */
const maxDatagrams = 64;
/** No datagram is longer. */
const maxDatagramBytes = 65_536;

export function startUdpRelay(parts: UdpRelayParts, address: Buffer): UdpRelay {
  const { loop, sockets, balancer, counts, tally, idleMs, now } = parts;
  const listener = sockets.bind(address);
  const sessions = new Map<string, Session>();
  const bytes = Buffer.allocUnsafe(maxDatagramBytes);
  const sender = Buffer.alloc(socketAddressBytes);
  let isOpen = true;

  const forget = (key: string, { fd, ended }: Session): void => {
    if (sessions.get(key)?.fd !== fd) return;
    sessions.delete(key);
    counts.open -= 1;
    ended();
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
      session.down.moved += size;
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
    if (backend === undefined || fd < 0) {
      counts.unanswered += 1;
      return undefined;
    }
    const client = Buffer.from(sender.subarray(0, address.length));
    const session: Session = { fd, lastUsedMs: now(), ...startCounting(tally, backend, client) };
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
      session.up.moved += size;
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

type Counting = Pick<Session, 'up' | 'down' | 'ended'>;

function startCounting(tally: RelayTally, endpoint: Backend, client: Buffer): Counting {
  const [up, down] = [{ moved: 0 }, { moved: 0 }];
  const clientKey = addressKey(client);
  const ended = tally.opened(endpoint, {
    client: () => ({ address: textOf(clientKey), port: portOf(client) }),
    ...{ clientKey, up, down },
  });
  return { up, down, ended };
}

const wouldBlock = -11;
