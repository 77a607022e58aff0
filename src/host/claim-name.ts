// Names that one process of this machine has at a time: sockets of the abstract namespace, which vanish with their owner however it ends.
import { once } from 'node:events';
import { createServer } from 'node:net';

export type Claim = { readonly release: () => void };

/** Undefined where another process of this network namespace has it. */
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
