import type { Socket } from 'node:net';

/** Resolves when the connection is closed, also by an error, which a sender may get when it is disconnected. */
export function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.on('error', () => {});
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });
}
