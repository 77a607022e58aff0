// A handshake costs as much as some ten requests. A crowd that connects at once is let in one by one, and those who are
// inside hardly notice.
import type { Server, Socket } from 'node:net';
import { createTurns } from '../limits/turns.ts';

/** For a server whose own listeners begin the handshake when a connection comes; call before others are added. */
export function paceHandshakes(server: Server): void {
  const begin = server.listeners('connection');
  server.removeAllListeners('connection');
  const turns = createTurns();
  server.on('connection', (socket: Socket) => {
    // Who goes while waiting is nobody's error.
    socket.on('error', () => {});
    turns(() => {
      if (socket.destroyed) return;
      for (const listener of begin) listener.call(server, socket);
    });
  });
}
