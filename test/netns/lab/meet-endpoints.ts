// Pods of a lab that say who they are, and connections that hear it.
import { once } from 'node:events';
import { createServer, type Server, Socket } from 'node:net';
import { clientDescriptorInside, listenInside } from '../../../src/host/namespace-sockets.ts';
import type { ServiceLab } from './service-lab.ts';

/** Each address of `ips` answers a connection with its name. */
export function startPods(
  { pods }: ServiceLab,
  ips: Readonly<Record<string, string>>,
  port: number,
): Promise<readonly Server[]> {
  return Promise.all(
    Object.entries(ips).map(async ([name, host]) => {
      const server = createServer((socket) => socket.resume().write(name));
      server.listen({ fd: listenInside(pods.path, { host, port }) });
      await once(server, 'listening');
      return server;
    }),
  );
}

export type Connection = { readonly endpoint: string; readonly socket: Socket };

export type Way = {
  readonly host: string;
  readonly port: number;
  /** The client's own address and port; any where it is not said. */
  readonly from?: string;
  readonly fromPort?: number;
};

/** Returns when the endpoint has said its name: the kernel counts the connection as open then. */
export async function connect({ client }: ServiceLab, way: Way): Promise<Connection> {
  const { host, port, from, fromPort } = way;
  const fd = clientDescriptorInside(client.path, { host, port });
  // As connectWith() of the sources, which leaves the client's own address to the kernel.
  const socket = new Socket({ fd, readable: true, writable: true, manualStart: true } as object);
  socket.connect({
    host,
    port,
    ...(from === undefined ? {} : { localAddress: from }),
    ...(fromPort === undefined ? {} : { localPort: fromPort }),
  });
  const [name] = await once(socket, 'data');
  return { endpoint: String(name), socket };
}

/** Both sides have ended it when this returns. */
export async function end(socket: Socket): Promise<void> {
  const closed = once(socket, 'close');
  socket.end();
  await closed;
}
