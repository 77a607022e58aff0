// A TLS handshake costs as much as some ten requests. In a burst of connections, handshakes begin one by one, with time
// for the requests of established connections in between: while these keep the event loop busy, new connections wait
// longer. Client addresses take turns, so a burst from one address does not delay the others.
import type { Server, Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { createRoundRobinQueue } from '../limits/round-robin-queue.ts';

/** A handshake takes about a millisecond, so that two thirds of the time remain for requests. */
const intervalMs = 3;
/** While the event loop is busy: long enough for the first requests of the previous connection. */
const busyIntervalMs = 25;
/** Utilization of the event loop above which its queue grows. */
const busyShare = 0.8;
/** Clients give up after ten seconds: a burst that would wait longer than this is admitted faster. */
const maxWaitMs = 5_000;

export type WaitingConnections = { readonly size: () => number };

/** Takes over the `connection` listeners of the server, which begin the handshake; call before others are added. */
export function paceHandshakes(
  server: Server,
  isBusy: () => boolean = watchLoop(),
  now: () => number = () => performance.now(),
): WaitingConnections {
  const handshakeListeners = server.listeners('connection');
  server.removeAllListeners('connection');
  const waiting = createRoundRobinQueue<Socket>();
  let lastAt = Number.NEGATIVE_INFINITY;
  /** Invariant: true while a connection waits. */
  let isScheduled = false;

  const dueAt = (interval: number): number =>
    lastAt + Math.min(interval, maxWaitMs / waiting.size());

  function schedule(): void {
    if (isScheduled || waiting.size() === 0) return;
    isScheduled = true;
    const remainingMs = dueAt(intervalMs) - now();
    if (remainingMs >= 1) setTimeout(beginNext, remainingMs);
    else setImmediate(beginNext);
  }

  function beginNext(): void {
    if (waiting.size() > 0 && now() < dueAt(busyIntervalMs) && isBusy()) {
      setTimeout(beginNext, intervalMs);
      return;
    }
    isScheduled = false;
    const socket = nextOpen();
    if (socket !== undefined) lastAt = now();
    // First, so that a listener that throws does not stop the queue.
    schedule();
    if (socket === undefined) return;
    for (const listener of handshakeListeners) listener.call(server, socket);
  }

  function nextOpen(): Socket | undefined {
    let socket = waiting.next();
    while (socket?.destroyed) socket = waiting.next();
    return socket;
  }

  server.on('connection', (socket: Socket) => {
    // A client may disconnect while it waits.
    socket.on('error', () => {});
    waiting.add(socket.remoteAddress ?? '', socket);
    schedule();
  });
  return { size: waiting.size };
}

/** Returns whether the event loop has been busy since the previous call. */
function watchLoop(): () => boolean {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization > busyShare;
  };
}
