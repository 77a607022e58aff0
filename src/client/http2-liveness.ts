// Detects dead HTTP/2 connections: when nothing was received for `readIdleMs`, a ping is sent; when nothing is received for `pingTimeoutMs`
// after that, the connection is closed and its requests fail. Go's http2.Transport does the same (ReadIdleTimeout, PingTimeout).
import type { ClientHttp2Session } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { endLater } from '../host/end-later.ts';
import { type ExchangeOptions, silenceError } from './exchange.ts';

export type LivenessOptions = ExchangeOptions & {
  readonly socket: TLSSocket;
  readonly session: ClientHttp2Session;
  /** Whether no request is in flight. */
  readonly isIdle: () => boolean;
};

/** Checks per `readIdleMs`: a ping is late by at most a third of it. */
const checksPerIdleTime = 3;

export function watchLiveness({
  connection,
  limits,
  socket,
  session,
  isIdle,
}: LivenessOptions): void {
  const { readIdleMs, pingTimeoutMs, idleTimeoutMs } = limits;
  let received = socket.bytesRead;
  let silentSince = performance.now();
  let usedAt = silentSince;
  let deadline: NodeJS.Timeout | undefined;

  const hasReceived = (): boolean => {
    if (socket.bytesRead === received) return false;
    received = socket.bytesRead;
    silentSince = performance.now();
    return true;
  };
  const ping = (): void => {
    // When this process itself was blocked, the ping's acknowledgement may lie unread in the socket: setImmediate lets it be read first. Any
    // received byte proves that the peer is alive, as the acknowledgement may be queued behind other frames.
    const judge = (): void => {
      const isAnswered = deadline === undefined;
      deadline = undefined;
      if (!isAnswered && !hasReceived())
        endLater(session, silenceError(connection, readIdleMs + pingTimeoutMs));
    };
    deadline = setTimeout(() => setImmediate(judge), pingTimeoutMs).unref();
    session.ping(() => {
      clearTimeout(deadline);
      deadline = undefined;
      silentSince = performance.now();
    });
  };
  const check = (): void => {
    const now = performance.now();
    if (!isIdle()) usedAt = now;
    if (now - usedAt >= idleTimeoutMs) session.close();
    if (hasReceived() || deadline !== undefined) return;
    if (now - silentSince >= readIdleMs && !session.destroyed) ping();
  };
  const timer = setInterval(check, readIdleMs / checksPerIdleTime).unref();
  session.once('close', () => {
    clearInterval(timer);
    clearTimeout(deadline);
  });
}
