// Requests over HTTP/1.1, for servers that speak nothing newer: each watch has a connection of its own, and a quiet one is judged by whether
// the server answers another request.
import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { TLSSocket } from 'node:tls';
import {
  type ExchangeOptions,
  endpointOf,
  type HttpTransport,
  headersOf,
  isWatch,
  keepAliveMs,
  NotConnected,
  pathOf,
  silent,
  type TransportLimits,
  tlsOptions,
} from './exchange.ts';
import type { Connection } from './read-kubeconfig.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';

/** Whatever it answers, it is there. */
const livenessPath = '/livez';

type Target = {
  readonly connection: Connection;
  readonly limits: TransportLimits;
  readonly agent: HttpAgent | HttpsAgent;
};

export function createHttp1Exchange({ connection, limits }: ExchangeOptions): HttpTransport {
  const kept = { keepAlive: true, keepAliveMsecs: keepAliveMs };
  const agent = connection.server.startsWith('https:')
    ? new HttpsAgent({ ...kept, ...tlsOptions(connection) })
    : new HttpAgent(kept);
  const target = { connection, limits, agent };
  const isAlive = createLivenessCheck(target);
  return {
    send: (request) =>
      new Promise<TransportResponse>((resolve, reject) => {
        const watches = isWatch(request);
        const quietMs = watches ? limits.readIdleMs : limits.silenceMs;
        const outgoing = begin(target, request, quietMs, (incoming) =>
          resolve(toResponse(incoming)),
        );
        outgoing.on('timeout', () => {
          if (watches) void keepWatch(target, outgoing, isAlive);
          else outgoing.destroy(silent(connection, quietMs));
        });
        outgoing.on('error', reject);
        outgoing.end(request.body);
      }),
    retire() {
      agent.maxFreeSockets = 0;
      for (const idle of Object.values(agent.freeSockets)) {
        for (const socket of idle ?? []) socket.destroy();
      }
    },
    close: () => {
      agent.destroy();
      return Promise.resolve();
    },
  };
}

function begin(
  { connection, limits, agent }: Target,
  request: TransportRequest,
  timeout: number,
  answered: (incoming: IncomingMessage) => void,
): ClientRequest {
  const { protocol, host, port } = endpointOf(connection);
  const outgoing = (protocol === 'https:' ? httpsRequest : httpRequest)(
    {
      ...{ protocol, hostname: host, port },
      method: request.method,
      path: pathOf(connection, request),
      headers: headersOf(request, connection),
      agent,
      timeout,
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    },
    answered,
  );
  limitConnecting(outgoing, connection.server, limits.connectMs);
  return outgoing;
}

/** A watch that is only quiet goes on; one whose server is gone ends. Node tells a request of one quiet time only, so the next is asked for. */
async function keepWatch(
  target: Target,
  watch: ClientRequest,
  isAlive: () => Promise<boolean>,
): Promise<void> {
  const { readIdleMs, pingTimeoutMs } = target.limits;
  if (!(await isAlive())) watch.destroy(silent(target.connection, readIdleMs + pingTimeoutMs));
  const { socket } = watch;
  // Ended meanwhile: the connection may be another request's by now.
  if (watch.destroyed || socket === null) return;
  const again = (): void => {
    watch.off('close', forget);
    void keepWatch(target, watch, isAlive);
  };
  const forget = (): void => void socket.off('timeout', again);
  watch.once('close', forget);
  socket.setTimeout(readIdleMs, again);
}

/** One question at a time answers for all watches of the transport. */
function createLivenessCheck(target: Target): () => Promise<boolean> {
  const { pingTimeoutMs } = target.limits;
  let asking: Promise<boolean> | undefined;
  return () => {
    asking ??= new Promise<boolean>((resolve) => {
      const question = { method: 'GET', path: livenessPath };
      const outgoing = begin(target, question, pingTimeoutMs, (incoming) => {
        incoming.resume();
        resolve(true);
      });
      // Not its timeout alone: a connection that takes long counts as well.
      const timer = setTimeout(() => outgoing.destroy(), pingTimeoutMs);
      outgoing.on('error', () => resolve(false));
      outgoing.on('close', () => {
        clearTimeout(timer);
        resolve(false);
      });
      outgoing.end();
    }).finally(() => {
      asking = undefined;
    });
    return asking;
  };
}

/** A connection that stands already has no limit: answers take what they take. */
function limitConnecting(outgoing: ClientRequest, server: string, limitMs: number): void {
  outgoing.once('socket', (socket) => {
    if (!socket.connecting) return;
    const timer = setTimeout(() => outgoing.destroy(new NotConnected(server, limitMs)), limitMs);
    const stop = (): void => clearTimeout(timer);
    socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', stop);
    socket.once('close', stop);
  });
}

function toResponse(incoming: IncomingMessage): TransportResponse {
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, body: incoming };
}
