// Reaches a cluster by whichever of its API servers answers. The first is asked until it fails, then the next, and so round; a watch
// that ended with one server is begun at another by whoever reads it, from the version it saw last.
import { type HttpTransport, isUnsent } from './exchange.ts';
import { createHttpTransport } from './http-transport.ts';
import type { Connection } from './read-kubeconfig.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';

export type OpenOptions = {
  /** How often the server in use is asked whether it does its work; absent: every 15 seconds. */
  readonly lookEveryMs?: number;
  /** How long it may take to say so. */
  readonly lookLimitMs?: number;
};

const defaultCheckMs = { lookEveryMs: 15_000, lookLimitMs: 5000 } as const;
/** Long for a network, short for who waits while there are others to ask. */
const connectLimitMs = 3000;

export function openTransport(connection: Connection, options: OpenOptions = {}): HttpTransport {
  const { otherServers = [] } = connection;
  if (otherServers.length === 0) return createHttpTransport(connection);
  const servers = [...new Set([connection.server, ...otherServers])];
  const { lookEveryMs, lookLimitMs } = { ...defaultCheckMs, ...options };
  const open = (number: number): Line => ({
    number,
    transport: createHttpTransport(
      { ...connection, server: servers[number % servers.length] ?? connection.server },
      { connectMs: connectLimitMs },
    ),
  });
  let current = open(0);
  /** Of servers that failed once: what is under way there may yet come to its end. */
  let left: readonly HttpTransport[] = [];
  const moveOn = (failed: Line, { to = failed.number + 1, isDead }: Move): void => {
    if (failed !== current) return;
    current = open(to);
    // Whoever waits for one that is not there would wait for long.
    if (isDead) return void failed.transport.close();
    failed.transport.retire();
    left = [...left, failed.transport];
    const [oldest, ...rest] = left;
    if (left.length <= maxRemaining) return;
    left = rest;
    void oldest?.close();
  };
  const look = async (): Promise<void> => {
    const looked = current;
    if (await isReady(looked.transport, lookLimitMs)) return;
    for (let step = 1; step < servers.length && looked === current; step += 1) {
      const next = open(looked.number + step);
      const isBetter = await isReady(next.transport, lookLimitMs);
      void next.transport.close();
      if (isBetter) moveOn(looked, { to: next.number, isDead: true });
    }
  };
  const stopLooking = repeat(look, lookEveryMs);
  const send = async (request: TransportRequest): Promise<TransportResponse> => {
    for (let tries = 1; ; tries += 1) {
      const used = current;
      try {
        return await used.transport.send(request);
      } catch (error) {
        if (request.signal?.aborted) throw error;
        moveOn(used, { isDead: isUnsent(error) });
        if (tries >= servers.length || !mayRepeat(request, error)) throw error;
      }
    }
  };
  return {
    send,
    retire() {
      stopLooking();
      current.transport.retire();
    },
    async close() {
      stopLooking();
      await Promise.all([current.transport, ...left].map((one) => one.close()));
    },
  };
}

/** More are left only where servers come and go all the time. */
const maxRemaining = 8;

type Move = { readonly to?: number; readonly isDead: boolean };

type Line = {
  /** Counts on round after round. */
  readonly number: number;
  readonly transport: HttpTransport;
};

/** A write that was sent may have happened: only who made it knows whether it may happen twice. */
function mayRepeat({ method }: TransportRequest, error: unknown): boolean {
  return method === 'GET' || method === 'HEAD' || isUnsent(error);
}

/** A server that cannot reach its store says that it is not ready. */
async function isReady(transport: HttpTransport, limitMs: number): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(limitMs);
    const { status, body } = await transport.send({ method: 'GET', path: '/readyz', signal });
    for await (const _ of body) {
      // Read to its end, so that the connection is free again.
    }
    return status < 500;
  } catch {
    return false;
  }
}

/** One after the other, so that a slow one is not joined by the next. */
function repeat(work: () => Promise<void>, everyMs: number): () => void {
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  const next = (): void => {
    if (!isOver) timer = setTimeout(() => void work().finally(next), everyMs).unref();
  };
  next();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
