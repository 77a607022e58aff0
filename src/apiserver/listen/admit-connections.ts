// Gives each connection a seat in the table of connections, and tells the table whose it is: when the handshake has shown a certificate
// that is good, or with the first request that names a user.
import type { Http2SecureServer, ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { createConnectionTable, type Seat } from '../limits/connection-table.ts';
import type { Limits } from '../limits/limits.ts';
import type { ServerMetrics } from '../metrics.ts';
import { type Connection, connectionOf } from './connection.ts';
import type { ServerState } from './state.ts';

type Admitted = { readonly seat: Seat; connection: Connection | undefined };

const administrators = 'system:masters';

export function admitConnections(
  server: Http2SecureServer,
  limits: Limits,
  state: ServerState,
  metrics: ServerMetrics,
): void {
  const table = createConnectionTable({ ...limits, evicted: metrics.evicted });
  metrics.followHolders(table.counts);
  /** By both ends: the socket of a handshake is another object than the one that came in, with the same ends. */
  const admitted = new Map<string, Admitted>();

  server.on('connection', (socket: Socket) => {
    const key = endsOf(socket);
    const seat = table.admit({
      address: socket.remoteAddress ?? '',
      close: () => void socket.destroy(),
      isIdle: () => {
        const { requests = 0, isHandedOver = false } = admitted.get(key)?.connection ?? {};
        return requests === 0 && !isHandedOver;
      },
    });
    admitted.set(key, { seat, connection: undefined });
    socket.on('close', () => {
      admitted.delete(key);
      table.leave(seat);
    });
  });

  const follow = (owner: TLSSocket | ServerHttp2Session, socket: TLSSocket): void => {
    // Read now: it was verified by those whom the server trusts now, which may be others when its first request comes.
    const connection = connectionOf(owner, socket, state.authority);
    const known = admitted.get(endsOf(socket));
    if (known === undefined) return;
    known.connection = connection;
    const identify = (user: string, groups: readonly string[]): void =>
      table.identify(known.seat, user, groups.includes(administrators));
    const { certificate } = connection.peer;
    if (certificate !== undefined) {
      identify(certificate.commonName, certificate.organizations);
      return;
    }
    connection.authenticated = ({ name, groups }) => {
      // Whose it is first, it stays: others may share it, as behind a proxy.
      connection.authenticated = undefined;
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
