// Reaches a cluster with several API servers. Requests go to one server until it fails, then to the next, round robin. A watch that fails
// with its server is resumed at another by its reader, from the last observed version.
import { type HttpTransport, isUnsent } from './exchange.ts';
import { createHttpTransport } from './http-transport.ts';
import type { Connection } from './read-kubeconfig.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';

export type OpenOptions = {
  /** How often the readiness of the current server is checked; absent: every 15 seconds. */
  readonly checkEveryMs?: number;
  /** How long a check may take; absent: 5 seconds. */
  readonly checkTimeoutMs?: number;
};

const defaultCheck = { checkEveryMs: 15_000, checkTimeoutMs: 5000 } as const;
/** Long for a network; shorter than the default, as other servers can be tried. */
const connectTimeoutMs = 3000;

export function openFailoverTransport(
  connection: Connection,
  options: OpenOptions = {},
): HttpTransport {
  const { otherServers = [] } = connection;
  if (otherServers.length === 0) return createHttpTransport(connection);
  const servers = [...new Set([connection.server, ...otherServers])];
  const { checkEveryMs, checkTimeoutMs } = { ...defaultCheck, ...options };
  const open = (attempt: number): ServerTransport => ({
    attempt,
    transport: createHttpTransport(
      { ...connection, server: servers[attempt % servers.length] ?? connection.server },
      { connectMs: connectTimeoutMs },
    ),
  });
  let current = open(0);
  /** Transports of servers that failed: requests in flight there may still complete. */
  let retired: readonly HttpTransport[] = [];
  const failOver = (
    failed: ServerTransport,
    { to = failed.attempt + 1, isUnreachable }: Failover,
  ): void => {
    if (failed !== current) return;
    current = open(to);
    // Requests to an unreachable server would only wait for their timeout.
    if (isUnreachable) return void failed.transport.close();
    failed.transport.retire();
    retired = [...retired, failed.transport];
    const [oldest, ...rest] = retired;
    if (retired.length <= maxRetired) return;
    retired = rest;
    void oldest?.close();
  };
  const checkServer = async (): Promise<void> => {
    const checked = current;
    if (await isReady(checked.transport, checkTimeoutMs)) return;
    for (let step = 1; step < servers.length && checked === current; step += 1) {
      const next = open(checked.attempt + step);
      const isBetter = await isReady(next.transport, checkTimeoutMs);
      void next.transport.close();
      if (isBetter) failOver(checked, { to: next.attempt, isUnreachable: true });
    }
  };
  const stopChecks = repeat(checkServer, checkEveryMs);
  const send = async (request: TransportRequest): Promise<TransportResponse> => {
    for (let tries = 1; ; tries += 1) {
      const used = current;
      try {
        return await used.transport.send(request);
      } catch (error) {
        if (request.signal?.aborted) throw error;
        failOver(used, { isUnreachable: isUnsent(error) });
        if (tries >= servers.length || !mayRepeat(request, error)) throw error;
      }
    }
  };
  return {
    send,
    retire() {
      stopChecks();
      current.transport.retire();
    },
    async close() {
      stopChecks();
      await Promise.all([current.transport, ...retired].map((one) => one.close()));
    },
  };
}

/** Exceeded only where servers keep failing; the oldest is closed then. */
const maxRetired = 8;

type Failover = { readonly to?: number; readonly isUnreachable: boolean };

type ServerTransport = {
  /** Counts up with each failover; modulo the number of servers, the index of the server. */
  readonly attempt: number;
  readonly transport: HttpTransport;
};

/** A write that was sent may have been applied: only its author knows whether it may be repeated. */
function mayRepeat({ method }: TransportRequest, error: unknown): boolean {
  return method === 'GET' || method === 'HEAD' || isUnsent(error);
}

/** A server that cannot reach its store reports that it is not ready. */
async function isReady(transport: HttpTransport, timeoutMs: number): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const { status, body } = await transport.send({ method: 'GET', path: '/readyz', signal });
    for await (const _ of body) {
      // Drain the body to free the connection.
    }
    return status < 500;
  } catch {
    // Whatever the error (connection, TLS, timeout), this server cannot be used now.
    return false;
  }
}

/** Repeats without overlap: the interval starts when the previous run has ended. */
function repeat(work: () => Promise<void>, everyMs: number): () => void {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  const next = (): void => {
    if (!isStopped) timer = setTimeout(() => void work().finally(next), everyMs).unref();
  };
  next();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
