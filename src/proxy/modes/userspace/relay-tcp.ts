// Relays TCP connections from a listening socket to endpoints, on a poll loop. Bytes go from socket to socket through kernel
// pipes.
import type { LinkedQueue } from '../../../host/linked-queue.ts';
import {
  edgeTriggered,
  failed,
  hungUp,
  type PollLoop,
  peerEnded,
  readable,
  urgent,
  writable,
} from '../../../host/poll-loop.ts';
import { addressKey, portOf, socketAddressBytes, textOf } from '../../../host/socket-address.ts';
import type { StreamSockets } from '../../../host/stream-sockets.ts';
import type { Balancer } from './balance.ts';
import type { Backend } from './relay-address.ts';
import type { Client, RelayTally } from './relay-counts.ts';
import { createFlow, type Flow, type PipePool, pump, type Side } from './relay-flow.ts';

export type TcpRelayParts = {
  readonly loop: PollLoop;
  readonly sockets: StreamSockets;
  readonly pipes: PipePool;
  readonly balancer: Balancer<Backend>;
  readonly counts: RelayCounts;
  readonly tally: RelayTally;
  /** Aborts each open connection. */
  readonly connections: LinkedQueue<() => void>;
};

/** Counts and limit of all relays of a worker. */
export type RelayCounts = {
  open: number;
  total: number;
  /** Clients turned away because no endpoint answered. */
  unanswered: number;
  /** Clients turned away because too many were there. */
  refused: number;
  readonly max: number;
};

export type TcpRelay = {
  readonly port: number;
  /** Accepts no new connections; existing ones stay (USR-09). */
  readonly stop: () => void;
};

const backlog = 4096;
/** Connections accepted in one iteration of the loop, for fairness to existing ones. */
const maxAccepts = 64;
/** How long each try to reach an endpoint may take (USR-03). */
const tryLimitsMs = [250, 500, 1000, 2000];
/** Pause after accept() failed for lack of descriptors, which connections return when they end. */
const acceptPauseMs = 100;
const wouldBlock = -11;
const inProgress = -115;
const everything = edgeTriggered + readable + urgent + writable + peerEnded;

export function startTcpRelay(parts: TcpRelayParts, address: Buffer): TcpRelay {
  const { loop, sockets, counts } = parts;
  const listener = sockets.listen(address, backlog);
  const peer = Buffer.alloc(socketAddressBytes);
  let isOpen = true;

  const accept = (): void => {
    for (let count = 0; count < maxAccepts && isOpen; count += 1) {
      const client = sockets.accept(listener, peer);
      if (client === wouldBlock) return;
      if (client < 0) {
        pause();
        return;
      }
      if (counts.open >= counts.max) {
        counts.refused += 1;
        sockets.reset(client);
      } else connectTo(parts, client, { key: addressKey(peer), port: portOf(peer) });
    }
  };
  const listen = (): void => loop.add(listener, readable, accept);
  const pause = (): void => {
    loop.remove(listener);
    loop.after(acceptPauseMs, () => {
      if (isOpen) listen();
    });
  };
  listen();
  return {
    port: sockets.localPort(listener),
    stop() {
      isOpen = false;
      loop.forget(listener);
      sockets.close(listener);
    },
  };
}

/** Of whom a connection comes. */
type Peer = { readonly key: string; readonly port: number };

const clientOf = ({ key, port }: Peer): Client => ({ address: textOf(key), port });

/** Tries endpoints until one accepts the connection, then joins the sockets. */
function connectTo(parts: TcpRelayParts, client: number, peer: Peer): void {
  const { loop, sockets, balancer, counts } = parts;
  counts.open += 1;
  counts.total += 1;
  const tried: Backend[] = [];

  const giveUp = (): void => {
    counts.open -= 1;
    counts.unanswered += 1;
    // RST, as from a closed port.
    sockets.reset(client);
  };
  const attempt = (): void => {
    const limitMs = tryLimitsMs[tried.length];
    const endpoint =
      tried.length === 0 ? balancer.pick(peer.key) : balancer.pickAnother(peer.key, tried);
    if (endpoint === undefined || limitMs === undefined) {
      giveUp();
      return;
    }
    tried.push(endpoint);
    const backend = sockets.openClient(endpoint.address.length > 16);
    const result = sockets.connect(backend, endpoint.address);
    if (result < 0 && result !== inProgress) {
      sockets.close(backend);
      loop.soon(attempt);
      return;
    }
    const next = (): void => {
      loop.forget(backend);
      sockets.close(backend);
      attempt();
    };
    const cancel = loop.after(limitMs, next);
    loop.add(backend, everything, (events) => {
      cancel();
      const hasFailed = (events & (failed | hungUp)) !== 0 && sockets.pendingError(backend) !== 0;
      if (hasFailed) next();
      else join(parts, { client, backend, peer, endpoint }, events);
    });
  };
  attempt();
}

type Joined = {
  readonly client: number;
  readonly backend: number;
  readonly peer: Peer;
  readonly endpoint: Backend;
};

/** Forwards bytes both ways until both sides have ended. */
function join(
  parts: TcpRelayParts,
  { client, backend, peer, endpoint }: Joined,
  firstEvents: number,
): void {
  const { loop, sockets, counts } = parts;
  const a: Side = { fd: client, isReadable: false, isWritable: true, isComplete: false };
  const b: Side = { fd: backend, isReadable: false, isWritable: true, isComplete: false };
  const up = createFlow(a, b);
  const down = createFlow(b, a);
  up.back = down;
  down.back = up;
  const ended = parts.tally.opened(endpoint, {
    ...{ client: () => clientOf(peer), clientKey: peer.key, up, down },
  });
  let isOpen = true;

  const end = (isBroken: boolean): void => {
    isOpen = false;
    parts.connections.remove(entry);
    counts.open -= 1;
    ended();
    for (const flow of [up, down]) parts.pipes.discard(flow);
    for (const fd of [client, backend]) {
      loop.forget(fd);
      if (isBroken) sockets.reset(fd);
      else sockets.close(fd);
    }
  };
  const abort = (): void => end(true);
  const entry = parts.connections.add(abort);
  const move = (flow: Flow): boolean => {
    const result = pump(parts, flow);
    if (result === 'broken') end(true);
    else if (result === 'more') loop.soon(work);
    return result !== 'broken';
  };
  const work = (): void => {
    if (!isOpen || !move(up) || !move(down)) return;
    if (up.hasEnded && down.hasEnded) end(false);
  };
  const listenTo =
    (side: Side, from: Flow) =>
    (events: number): void => {
      if ((events & (readable | peerEnded | hungUp | failed)) !== 0) side.isReadable = true;
      if ((events & peerEnded) !== 0) side.isComplete = true;
      // With urgent data a short read may end at the mark, and not at the end of the received bytes.
      if ((events & urgent) !== 0) from.isBulk = true;
      if ((events & (writable | hungUp | failed)) !== 0) side.isWritable = true;
      work();
    };
  const onBackend = listenTo(b, down);
  loop.listen(backend, onBackend);
  loop.add(client, everything, listenTo(a, up));
  onBackend(firstEvents);
}
