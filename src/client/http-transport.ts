// Reaches an API server over HTTP/2, where it speaks that, and HTTP/1.1: connections are kept and used again, and one whose server is gone
// is given up.
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
  given: Partial<TransportLimits> = {},
): HttpTransport {
  const limits = { ...defaultLimits, ...given };
  const own = createExchange({ connection, limits });
  // Who shows a token must not come with a certificate, which would say who they are.
  let bare: HttpTransport | undefined;
  const exchangeOf = ({ token }: TransportRequest): HttpTransport => {
    if (token === undefined) return own;
    bare ??= createExchange({ connection: withoutCredentials(connection), limits });
    return bare;
  };
  return {
    send: (request) => exchangeOf(request).send(request),
    retire() {
      own.retire();
      bare?.retire();
    },
    close: async () => void (await Promise.all([own.close(), bare?.close()])),
  };
}

function withoutCredentials(connection: Connection): Connection {
  const { clientCertificate, clientKey, token, ...rest } = connection;
  return rest;
}

/** What a server speaks is known with the first connection to it. */
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
