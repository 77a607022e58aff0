// Reaches an API server over HTTPS: connections are kept and used again, and one that has gone silent is given up.
import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { TLSSocket } from 'node:tls';
import type { Connection } from './read-kubeconfig.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

/**
 * A connection on which nothing has come for so long is dead: servers send a watcher a bookmark every minute,
 * and everything else answers sooner.
 */
const silenceMs = 100_000;
const keepAliveMs = 15_000;
/** Who does not take a connection in this time is not there. */
const usualConnectLimitMs = 30_000;

export type HttpTransport = Transport & {
  /** No new requests come: connections end as soon as what is under way on them does. */
  readonly retire: () => void;
};

export function createHttpTransport(
  connection: Connection,
  connectLimitMs = usualConnectLimitMs,
): HttpTransport {
  const base = new URL(connection.server);
  const isSecure = base.protocol === 'https:';
  const agent = isSecure
    ? secureAgent(connection)
    : new HttpAgent({ keepAlive: true, keepAliveMsecs: keepAliveMs });
  const send = isSecure ? httpsRequest : httpRequest;
  const prefix = base.pathname.replace(/\/+$/, '');
  return {
    send: (request) =>
      new Promise<TransportResponse>((resolve, reject) => {
        const outgoing = send(
          {
            protocol: base.protocol,
            hostname: base.hostname.replace(/^\[|\]$/g, ''),
            port: base.port || (isSecure ? 443 : 80),
            method: request.method,
            path: prefix + request.path,
            headers: headersOf(request, connection),
            agent,
            timeout: silenceMs,
            ...(request.signal === undefined ? {} : { signal: request.signal }),
          },
          (incoming) => resolve(toResponse(incoming)),
        );
        outgoing.on('timeout', () => {
          outgoing.destroy(
            new Error(
              `Cannot go on: nothing came from ${connection.server} for ${silenceMs / 1000} s`,
            ),
          );
        });
        limitConnecting(outgoing, connection.server, connectLimitMs);
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

class NotConnected extends Error {
  readonly code = 'ETIMEDOUT';
  readonly syscall = 'connect';
  constructor(server: string, limitMs: number) {
    super(`Cannot connect to ${server}: no answer within ${limitMs / 1000} s`);
    this.name = 'NotConnected';
  }
}

/** Whether the request that failed with this never reached a server. */
export function isUnsent(error: unknown): boolean {
  const { syscall } = error as NodeJS.ErrnoException;
  return syscall === 'connect' || syscall === 'getaddrinfo';
}

function secureAgent(connection: Connection): HttpsAgent {
  const { certificateAuthority, clientCertificate, clientKey, tlsServerName, skipTlsVerification } =
    connection;
  return new HttpsAgent({
    keepAlive: true,
    keepAliveMsecs: keepAliveMs,
    rejectUnauthorized: !skipTlsVerification,
    ...(certificateAuthority === undefined ? {} : { ca: certificateAuthority }),
    ...(clientCertificate === undefined ? {} : { cert: clientCertificate }),
    ...(clientKey === undefined ? {} : { key: clientKey }),
    ...(tlsServerName === undefined ? {} : { servername: tlsServerName }),
  });
}

function headersOf(
  { headers = {}, body }: TransportRequest,
  { token }: Connection,
): Record<string, string | number> {
  return {
    ...headers,
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
  };
}

function toResponse(incoming: IncomingMessage): TransportResponse {
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, body: incoming };
}
