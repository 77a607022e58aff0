import type { Socket } from 'node:net';

/** Resolves when the connection is over, by an error too: whoever is cut off while it still sends hears one, or does not. */
export function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.on('error', () => {});
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });
}
