// A handshake costs as much as some ten requests. A crowd that connects at once is let in one by one, with time for
// those who are inside in between: while they keep the event loop busy, newcomers wait longer. Who connects from elsewhere does not
// wait for the whole crowd.
import type { Server, Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { createRotation } from '../limits/rotation.ts';

/** A handshake takes about a millisecond in all, so that two thirds of the time remain for requests. */
const apartMs = 3;
/** While the loop has no time to spare: long enough for what the last one asked for. */
const apartWhileBusyMs = 25;
/** Of the time; above it a queue grows. */
const busyShare = 0.8;
/** Clients give up after ten seconds. Where the crowd would take longer than this, it is let in faster. */
const maxMs = 5_000;

export type Waiting = { readonly size: () => number };

/** For a server whose own listeners begin the handshake when a connection comes; call before others are added. */
export function paceHandshakes(
  server: Server,
  isBusy: () => boolean = watchLoop(),
  now: () => number = () => performance.now(),
): Waiting {
  const begin = server.listeners('connection');
  server.removeAllListeners('connection');
  const waiting = createRotation<Socket>();
  let lastAt = Number.NEGATIVE_INFINITY;
  /** True exactly while a turn is to come: as long as anybody waits, there is one. */
  let isPlanned = false;

  const dueAt = (apart: number): number => lastAt + Math.min(apart, maxMs / waiting.size());

  function plan(): void {
    if (isPlanned || waiting.size() === 0) return;
    isPlanned = true;
    const leftMs = dueAt(apartMs) - now();
    if (leftMs >= 1) setTimeout(takeTurn, leftMs);
    else setImmediate(takeTurn);
  }

  function takeTurn(): void {
    if (waiting.size() > 0 && now() < dueAt(apartWhileBusyMs) && isBusy()) {
      setTimeout(takeTurn, apartMs);
      return;
    }
    isPlanned = false;
    const socket = nextAlive();
    if (socket !== undefined) lastAt = now();
    // Before anything can go wrong with this one.
    plan();
    if (socket === undefined) return;
    for (const listener of begin) listener.call(server, socket);
  }

  function nextAlive(): Socket | undefined {
    let socket = waiting.next();
    while (socket?.destroyed) socket = waiting.next();
    return socket;
  }

  server.on('connection', (socket: Socket) => {
    // Who goes while waiting is nobody's error.
    socket.on('error', () => {});
    waiting.add(socket.remoteAddress ?? '', socket);
    plan();
  });
  return { size: waiting.size };
}

/** Whether the event loop has been busy since it was last asked. */
function watchLoop(): () => boolean {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization > busyShare;
  };
}
