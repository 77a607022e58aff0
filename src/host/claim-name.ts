// Machine-wide locks by name: sockets of the abstract namespace, which the kernel removes when the process ends.
import { once } from 'node:events';
import { createServer } from 'node:net';

export type Claim = { readonly release: () => void };

/** Undefined if another process of this network namespace holds the name. */
export async function claimName(name: string): Promise<Claim | undefined> {
  const server = createServer((socket) => socket.destroy());
  server.unref();
  try {
    server.listen(`\0${name}`);
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw error;
  }
  return { release: () => server.close() };
}
