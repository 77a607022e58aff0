// Whether the server at the other end of an HTTP/2 connection is there: when nothing came for some time it is sent a ping, and when nothing
// comes for some more, the connection ends, and with it all requests on it. As Go's http2.Transport does by ReadIdleTimeout.
import type { ClientHttp2Session } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { endLater } from '../host/end-later.ts';
import { type ExchangeOptions, silent } from './exchange.ts';

export type LivenessOptions = ExchangeOptions & {
  readonly socket: TLSSocket;
  readonly session: ClientHttp2Session;
  /** Whether no request is under way. */
  readonly isIdle: () => boolean;
};

/** How often in the quiet time it is seen whether something came: the ping comes at most this part of it late. */
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
  let quietSince = performance.now();
  let usedAt = quietSince;
  let deadline: NodeJS.Timeout | undefined;

  const hasReceived = (): boolean => {
    if (socket.bytesRead === received) return false;
    received = socket.bytesRead;
    quietSince = performance.now();
    return true;
  };
  const ping = (): void => {
    // Where this process was held up itself, the answer may lie unread: it is read before the time is judged. And whatever came tells that
    // somebody is there, for the answer may stand behind it.
    const judge = (): void => {
      const isAnswered = deadline === undefined;
      deadline = undefined;
      if (!isAnswered && !hasReceived())
        endLater(session, silent(connection, readIdleMs + pingTimeoutMs));
    };
    deadline = setTimeout(() => setImmediate(judge), pingTimeoutMs).unref();
    session.ping(() => {
      clearTimeout(deadline);
      deadline = undefined;
      quietSince = performance.now();
    });
  };
  const check = (): void => {
    const now = performance.now();
    if (!isIdle()) usedAt = now;
    if (now - usedAt >= idleTimeoutMs) session.close();
    if (hasReceived() || deadline !== undefined) return;
    if (now - quietSince >= readIdleMs && !session.destroyed) ping();
  };
  const timer = setInterval(check, readIdleMs / checksPerIdleTime).unref();
  session.once('close', () => {
    clearInterval(timer);
    clearTimeout(deadline);
  });
}
