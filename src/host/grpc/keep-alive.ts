// Detects a dead connection that no one closed: a server behind a broken network sends neither data nor an end.
import type { ClientHttp2Session } from 'node:http2';

export type KeepAlive = {
  /** Something arrived: the server is alive. */
  readonly received: () => void;
  readonly callStarted: () => void;
  readonly callEnded: () => void;
};

/** A response that takes longer is a reason to ping. */
const lateResponseMs = 2000;
/** So is a stream without messages, after this time. */
const idleMs = 10_000;
/** gRPC servers close connections that are pinged more often than every 5 seconds while nothing is sent (etcd's default). */
const minPingIntervalMs = 5500;
/** The kernel and the server's transport answer pings at once, however busy its disk is. */
const pingTimeoutMs = 2000;
const checkIntervalMs = 500;

/** Times of the connection, in milliseconds of one clock. */
export type Activity = {
  readonly receivedMs: number;
  readonly pingedMs: number;
  /** Since when a call has been waiting; absent: none is. */
  readonly waitingSinceMs?: number;
};

export function mustPing(
  { receivedMs, pingedMs, waitingSinceMs }: Activity,
  nowMs: number,
): boolean {
  if (nowMs - pingedMs < minPingIntervalMs) return false;
  const isLate =
    waitingSinceMs !== undefined && nowMs - Math.max(receivedMs, waitingSinceMs) >= lateResponseMs;
  return isLate || nowMs - receivedMs >= idleMs;
}

/** Calls `onDead` when a ping is not answered in time. Ends with the session. */
export function startKeepAlive(
  session: ClientHttp2Session,
  onDead: (reason: Error) => void,
): KeepAlive {
  let receivedMs = performance.now();
  let pingedMs = Number.NEGATIVE_INFINITY;
  let calls = 0;
  let waitingSinceMs: number | undefined;
  let deadline: NodeJS.Timeout | undefined;
  const received = (): void => {
    receivedMs = performance.now();
  };
  const ping = (): void => {
    pingedMs = performance.now();
    // After a pause of this process the answer may be there unread: the second timer lets it be read first.
    deadline = setTimeout(() => {
      deadline = setTimeout(() => onDead(new Error('no answer to a ping')), 1);
    }, pingTimeoutMs);
    session.ping((error) => {
      clearTimeout(deadline);
      if (error === null) received();
    });
  };
  const timer = setInterval(() => {
    if (session.destroyed || session.connecting) return;
    const activity = {
      ...{ receivedMs, pingedMs },
      ...(waitingSinceMs === undefined ? {} : { waitingSinceMs }),
    };
    if (mustPing(activity, performance.now())) ping();
  }, checkIntervalMs);
  timer.unref();
  session.once('close', () => {
    clearInterval(timer);
    clearTimeout(deadline);
  });
  return {
    received,
    callStarted() {
      if (calls === 0) waitingSinceMs = performance.now();
      calls += 1;
    },
    callEnded() {
      calls -= 1;
      if (calls === 0) waitingSinceMs = undefined;
    },
  };
}
