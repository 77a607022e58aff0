// Closes HTTP/2 connections that are idle. Not with the timeout of Node.js sessions: its timer outlives the session and
// keeps everything that belongs to a closed connection in memory until it fires.
import type { ServerHttp2Session } from 'node:http2';
import { findConnection } from './connection.ts';

/** A connection stays open for at most one check longer than the timeout. */
const checksPerTimeout = 4;

type Observation = { readonly requestsStarted: number; readonly idleChecks: number };

/** Returns how to stop; a timeout of 0 is no limit. A connection with a quiet watch is not idle, one with only pings is. */
export function closeIdle(
  sessions: ReadonlySet<ServerHttp2Session>,
  idleTimeoutMs: number,
): () => void {
  if (idleTimeoutMs === 0) return () => {};
  const observations = new WeakMap<ServerHttp2Session, Observation>();
  const check = (session: ServerHttp2Session): void => {
    const { requests = 0, requestsStarted = 0 } = findConnection(session) ?? {};
    const before = observations.get(session);
    const isIdle = requests === 0 && before?.requestsStarted === requestsStarted;
    const idleChecks = isIdle ? before.idleChecks + 1 : 0;
    observations.set(session, { requestsStarted, idleChecks });
    if (idleChecks === checksPerTimeout) session.close();
  };
  const timer = setInterval(() => {
    for (const session of sessions) if (!session.destroyed) check(session);
  }, idleTimeoutMs / checksPerTimeout);
  timer.unref();
  return () => clearInterval(timer);
}
