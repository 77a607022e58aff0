// A transport whose credentials an exec plugin prints. The plugin runs before the first request, when the credentials have expired, and when
// the server refuses them; requests that wait for it share one run.
import { type Clock, systemClock } from '../host/clock.ts';
import { deepEqual } from '../schema/equality.ts';
import type { HttpTransport } from './exchange.ts';
import type { ExecCredential } from './exec-credential.ts';
import { openFailoverTransport } from './open-failover-transport.ts';
import type { Connection } from './read-kubeconfig.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';

export type PluginTransportOptions = {
  /** Without the credentials of the plugin. */
  readonly connection: Connection;
  /** Aborts when the transport is closed. */
  readonly runPlugin: (signal: AbortSignal) => Promise<ExecCredential>;
  readonly clock?: Clock;
  /** Absent: over the network. */
  readonly open?: (connection: Connection) => HttpTransport;
};

/**
 * A plugin that failed does not run again at once, and neither does one whose credentials the server refused: a part that retries must not
 * start a process each time. Requests in between fail with the last error, or with the server's.
 */
const minIntervalMs = 5000;
/** Watches last at most ten minutes: older transports are no longer in use. */
const maxRetired = 10;

type Opened = {
  readonly credential: ExecCredential;
  readonly transport: HttpTransport;
  readonly since: number;
};

export function openPluginTransport(options: PluginTransportOptions): HttpTransport {
  const { connection, runPlugin, clock = systemClock, open = openFailoverTransport } = options;
  const closing = new AbortController();
  let current: Opened | undefined;
  let retired: readonly HttpTransport[] = [];
  let pending: Promise<Opened> | undefined;
  let failed: { readonly error: unknown; readonly until: number } | undefined;

  const replace = (credential: ExecCredential): Opened => {
    const since = clock.now();
    if (current !== undefined && hasSameIdentity(current.credential, credential)) {
      current = { ...current, credential, since };
      return current;
    }
    if (current !== undefined) {
      current.transport.retire();
      for (const old of retired.slice(0, -maxRetired + 1)) void old.close();
      retired = [...retired.slice(-maxRetired + 1), current.transport];
    }
    const { expiresAt: _, ...identity } = credential;
    current = { credential, since, transport: open({ ...connection, ...identity }) };
    return current;
  };
  const renew = (): Promise<Opened> => {
    if (failed !== undefined && clock.now() < failed.until) return Promise.reject(failed.error);
    pending ??= runPlugin(closing.signal)
      .then(replace)
      .catch((error: unknown) => {
        failed = { error, until: clock.now() + minIntervalMs };
        throw error;
      })
      .finally(() => {
        pending = undefined;
      });
    return pending;
  };
  const acquire = (): Promise<Opened> => {
    const isValid =
      current !== undefined &&
      (current.credential.expiresAt ?? Number.POSITIVE_INFINITY) > clock.now();
    return isValid && current !== undefined ? Promise.resolve(current) : renew();
  };
  return {
    async send(request) {
      const used = await unlessAborted(acquire(), request.signal);
      const response = await used.transport.send(request);
      if (response.status !== 401 || request.token !== undefined) return response;
      if (used === current && clock.now() - used.since < minIntervalMs) return response;
      const renewed = await unlessAborted(used === current ? renew() : acquire(), request.signal);
      if (hasSameIdentity(used.credential, renewed.credential)) return response;
      return repeat(request, response, renewed.transport);
    },
    retire() {
      current?.transport.retire();
    },
    async close() {
      closing.abort();
      const open = current === undefined ? retired : [current.transport, ...retired];
      await Promise.all(open.map((one) => one.close()));
    },
  };
}

/** The server did not act on a request that it refused. */
async function repeat(
  request: TransportRequest,
  { body }: TransportResponse,
  transport: HttpTransport,
): Promise<TransportResponse> {
  for await (const _ of body) {
    // Drain the body to free the connection.
  }
  return transport.send(request);
}

function hasSameIdentity(a: ExecCredential, b: ExecCredential): boolean {
  return deepEqual({ ...a, expiresAt: 0 }, { ...b, expiresAt: 0 });
}

/** Stops waiting when the signal is aborted; the plugin goes on for other requests. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
