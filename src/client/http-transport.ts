// Reaches an API server over HTTPS: connections are kept and used again, and one that has gone silent is given up.
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Connection } from './read-kubeconfig.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

/**
 * A connection on which nothing has come for so long is dead: servers send a watcher a bookmark every minute,
 * and everything else answers sooner.
 */
const silenceMs = 100_000;
const keepAliveMs = 15_000;

export type HttpTransport = Transport & {
  /** No new requests come: connections end as soon as what is under way on them does. */
  readonly retire: () => void;
};

export function createHttpTransport(connection: Connection): HttpTransport {
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
