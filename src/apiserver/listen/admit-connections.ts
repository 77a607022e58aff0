// Adds each connection to the table of connections, and identifies its user there: by a valid client certificate after
// the handshake, or by the first authenticated request.
import type { Http2SecureServer, ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { createConnectionTable, type TableEntry } from '../limits/connection-table.ts';
import type { Limits } from '../limits/limits.ts';
import type { ServerMetrics } from '../metrics.ts';
import { type Connection, connectionOf } from './connection.ts';
import type { ServerState } from './state.ts';

type Admitted = { readonly tableEntry: TableEntry; connection: Connection | undefined };

const administrators = 'system:masters';

export function admitConnections(
  server: Http2SecureServer,
  limits: Limits,
  state: ServerState,
  metrics: ServerMetrics,
): void {
  const table = createConnectionTable({ ...limits, evicted: metrics.evicted });
  metrics.followHolders(table.counts);
  /** By the addresses of both ends: the TLS socket is another object than the TCP socket, with the same addresses. */
  const admitted = new Map<string, Admitted>();

  server.on('connection', (socket: Socket) => {
    const key = endsOf(socket);
    const tableEntry = table.admit({
      address: socket.remoteAddress ?? '',
      close: () => void socket.destroy(),
      isIdle: () => {
        const { requests = 0, isUpgraded = false } = admitted.get(key)?.connection ?? {};
        return requests === 0 && !isUpgraded;
      },
    });
    admitted.set(key, { tableEntry, connection: undefined });
    socket.on('close', () => {
      admitted.delete(key);
      table.remove(tableEntry);
    });
  });

  const follow = (transport: TLSSocket | ServerHttp2Session, socket: TLSSocket): void => {
    // Read now: it was verified with the present client CA, which may change before the first request.
    const connection = connectionOf(transport, socket, state.clientCa);
    const tracked = admitted.get(endsOf(socket));
    if (tracked === undefined) return;
    tracked.connection = connection;
    const identify = (user: string, groups: readonly string[]): void =>
      table.identify(tracked.tableEntry, user, groups.includes(administrators));
    const { certificate } = connection.peer;
    if (certificate !== undefined) {
      identify(certificate.commonName, certificate.organizations);
      return;
    }
    connection.onAuthenticated = ({ name, groups }) => {
      // The first user stays: behind a proxy, several may share the connection.
      connection.onAuthenticated = undefined;
      identify(name, groups);
    };
  };
  server.on('session', (session) => follow(session, session.socket as TLSSocket));
  server.on('secureConnection', (socket) => {
    if (socket.alpnProtocol !== 'h2') follow(socket, socket);
  });
}

function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress}|${remotePort}|${localAddress}|${localPort}`;
}
