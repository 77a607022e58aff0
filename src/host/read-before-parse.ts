// Keeps Node from cutting HTTP/1.1 connections over TLS. A request that comes while the answer before it still waits to be written makes Node
// pause the connection and its parser. By default its parser takes the bytes straight from TLS, which does not know of the pause: a request of
// more than one TLS record is then parsed while the parser is paused, "Parse Error: Paused", and the connection is reset. A listener for data
// makes Node read through the stream instead, which holds back what comes during a pause.
import type { EventEmitter } from 'node:events';
import type { TLSSocket } from 'node:tls';

/** Call after the server is made: its own listener for connections must run first. */
export function readBeforeParse(server: EventEmitter): void {
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') return;
    // Node changes the way of reading when the listener is added, and does not go back when it is removed.
    socket.on('data', ignore);
    socket.off('data', ignore);
  });
}

function ignore(): void {}
