// Reaches an API server over HTTP/2 where the server supports it, and over HTTP/1.1 otherwise. Connections are reused, and closed when the
// server stops answering.
import type { ExchangeOptions, HttpTransport, TransportLimits } from './exchange.ts';
import { createHttp1Exchange } from './http1-exchange.ts';
import { createHttp2Exchange } from './http2-exchange.ts';
import type { Connection } from './read-kubeconfig.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';

const defaultLimits: TransportLimits = {
  connectMs: 30_000,
  silenceMs: 100_000,
  // client-go's ReadIdleTimeout and PingTimeout.
  readIdleMs: 30_000,
  pingTimeoutMs: 15_000,
  // Go's IdleConnTimeout.
  idleTimeoutMs: 90_000,
};

export function createHttpTransport(
  connection: Connection,
  overrides: Partial<TransportLimits> = {},
): HttpTransport {
  const limits = { ...defaultLimits, ...overrides };
  const authenticated = createExchange({ connection, limits });
  // A request with its own token must not present the client certificate, which would authenticate it as the connection's user.
  let anonymous: HttpTransport | undefined;
  const exchangeOf = ({ token }: TransportRequest): HttpTransport => {
    if (token === undefined) return authenticated;
    anonymous ??= createExchange({ connection: withoutCredentials(connection), limits });
    return anonymous;
  };
  return {
    send: (request) => exchangeOf(request).send(request),
    retire() {
      authenticated.retire();
      anonymous?.retire();
    },
    close: async () => void (await Promise.all([authenticated.close(), anonymous?.close()])),
  };
}

function withoutCredentials(connection: Connection): Connection {
  const { clientCertificate, clientKey, token, basicAuth, impersonation, ...rest } = connection;
  return rest;
}

/** The protocol is negotiated (ALPN) with the first connection. */
function createExchange(options: ExchangeOptions): HttpTransport {
  const http1 = createHttp1Exchange(options);
  if (!options.connection.server.startsWith('https:')) return http1;
  const http2 = createHttp2Exchange(options);
  const send = async (request: TransportRequest): Promise<TransportResponse> =>
    (await http2.send(request)) ?? http1.send(request);
  return {
    send,
    retire() {
      http1.retire();
      http2.retire();
    },
    close: async () => void (await Promise.all([http1.close(), http2.close()])),
  };
}
