// Ends HTTP/2 connections without a request. Not by Node's own timer of a session, which outlives the session: until it
// goes off, it holds all that belongs to a connection that has long ended.
import type { ServerHttp2Session } from 'node:http2';
import { knownConnection } from './connection.ts';

/** Looks within the time; a connection stays open that much longer at most. */
const looks = 4;

type Seen = { readonly begun: number; readonly idleLooks: number };

/** Until it is called off; a time of 0 is no limit. A quiet watch is no idleness, and a ping is no request. */
export function closeIdle(
  sessions: ReadonlySet<ServerHttp2Session>,
  idleTimeoutMs: number,
): () => void {
  if (idleTimeoutMs === 0) return () => {};
  const seen = new WeakMap<ServerHttp2Session, Seen>();
  const look = (session: ServerHttp2Session): void => {
    const { requests = 0, begun = 0 } = knownConnection(session) ?? {};
    const before = seen.get(session);
    const isIdle = requests === 0 && before?.begun === begun;
    const idleLooks = isIdle ? before.idleLooks + 1 : 0;
    seen.set(session, { begun, idleLooks });
    if (idleLooks === looks) session.close();
  };
  const timer = setInterval(() => {
    for (const session of sessions) if (!session.destroyed) look(session);
  }, idleTimeoutMs / looks);
  timer.unref();
  return () => clearInterval(timer);
}
