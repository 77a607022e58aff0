// Takes TCP connections on the loopback and joins each to one inside.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { Endpoint } from './desired.ts';

export type RelayListener = { readonly close: () => Promise<void> };

export type TcpListener = {
  readonly listen: Endpoint;
  /** Opens the connection inside. */
  readonly connect: () => Socket;
};

/** Of one relay; far below the limit of files, far above what a person's tools open. */
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
  // Running out of files is told to nobody: the connection is simply not taken.
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

/** What one side ends, the other ends; what breaks on one side breaks the other, with a reset, so that nobody takes half for whole. */
function join(client: Socket, inside: Socket): void {
  const link = (from: Socket, to: Socket): void => {
    from.on('error', () => to.resetAndDestroy());
    from.on('close', () => to.destroy());
    from.pipe(to);
  };
  link(client, inside);
  link(inside, client);
}
