// Accepts TCP connections on the loopback and joins each to a connection inside.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { Endpoint } from './desired.ts';

export type RelayListener = { readonly close: () => Promise<void> };

export type TcpListener = {
  readonly listen: Endpoint;
  /** Opens the connection inside. */
  readonly connect: () => Socket;
};

/** Of one relay: far below the limit of open files, far above what a person's tools open. */
const maxConnections = 1000;

/** Rejects as `server.listen` does. */
export async function relayTcp({ listen, connect }: TcpListener): Promise<RelayListener> {
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const inside = connect();
    for (const socket of [client, inside]) {
      open.add(socket);
      socket.once('close', () => open.delete(socket));
    }
    join(client, inside);
  });
  server.maxConnections = maxConnections;
  server.listen({ ...listen, exclusive: true });
  await once(server, 'listening');
  // accept() fails while the process has no descriptors left (EMFILE): the client gets no connection, and the relay goes on.
  server.on('error', () => {});
  return {
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

/** FIN is passed on as FIN, an error as RST, so that no client takes a truncated stream for a complete one. */
function join(client: Socket, inside: Socket): void {
  const link = (from: Socket, to: Socket): void => {
    from.on('error', () => to.resetAndDestroy());
    from.on('close', () => to.destroy());
    from.pipe(to);
  };
  link(client, inside);
  link(inside, client);
}
