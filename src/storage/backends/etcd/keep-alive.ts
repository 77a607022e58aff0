// Notices that a connection is dead though nobody closed it: a member behind a broken network sends neither data nor an end.
import type { ClientHttp2Session } from 'node:http2';

export type KeepAlive = {
  /** Something came: whoever sends lives. */
  readonly heard: () => void;
  /** A call waits for its answer. */
  readonly begun: () => void;
  readonly ended: () => void;
};

/** An answer that takes longer makes one ask whether anybody is there. */
const answerLateMs = 2000;
/** So does a quiet watch, after a while. */
const quietMs = 10_000;
/** etcd ends connections that are asked more often than every 5 seconds while it has nothing to say. */
const pingsApartMs = 5500;
/** The far end answers pings at once, however busy its disk is. */
const pingLimitMs = 2000;
const lookEveryMs = 500;

export type Quiet = {
  readonly observedMs: number;
  readonly pingedMs: number;
  /** Since when a call waits; absent: none does. */
  readonly awaitedSinceMs?: number;
};

export function mustPing({ observedMs, pingedMs, awaitedSinceMs }: Quiet, nowMs: number): boolean {
  if (nowMs - pingedMs < pingsApartMs) return false;
  const isAnswerLate =
    awaitedSinceMs !== undefined && nowMs - Math.max(observedMs, awaitedSinceMs) >= answerLateMs;
  return isAnswerLate || nowMs - observedMs >= quietMs;
}

/** `giveUp` is called when the far end does not answer a ping in time. */
export function keepAlive(session: ClientHttp2Session, giveUp: (reason: Error) => void): KeepAlive {
  let observedMs = performance.now();
  let pingedMs = Number.NEGATIVE_INFINITY;
  let waiting = 0;
  let awaitedSinceMs: number | undefined;
  let limit: NodeJS.Timeout | undefined;
  const heard = (): void => {
    observedMs = performance.now();
  };
  const ping = (): void => {
    pingedMs = performance.now();
    // Where this process stood still, the answer may be there unread: reading comes first.
    limit = setTimeout(() => {
      limit = setTimeout(() => giveUp(new Error('no answer to a ping')), 1);
    }, pingLimitMs);
    session.ping((error) => {
      clearTimeout(limit);
      if (error === null) heard();
    });
  };
  const timer = setInterval(() => {
    if (session.destroyed || session.connecting) return;
    const quiet = {
      observedMs,
      pingedMs,
      ...(awaitedSinceMs === undefined ? {} : { awaitedSinceMs }),
    };
    if (mustPing(quiet, performance.now())) ping();
  }, lookEveryMs);
  timer.unref();
  session.once('close', () => {
    clearInterval(timer);
    clearTimeout(limit);
  });
  return {
    heard,
    begun() {
      if (waiting === 0) awaitedSinceMs = performance.now();
      waiting += 1;
    },
    ended() {
      waiting -= 1;
      if (waiting === 0) awaitedSinceMs = undefined;
    },
  };
}
