// Works around a defect of Node's HTTP/1.1 servers over TLS. A request that arrives while the previous response is not yet written makes
// Node pause the connection and its parser. By default the parser consumes the bytes straight from the TLS handle, which ignores the pause:
// a request of several TLS records then fails with "Parse Error: Paused", and the connection is reset. With a 'data' listener Node reads
// through the stream instead, which honours the pause.
import type { EventEmitter } from 'node:events';
import type { TLSSocket } from 'node:tls';

/**
 * Call after the server is created: its own listener for connections must run first. A connection is switched when it is paused for the
 * first time, and no sooner: the stream costs a sixth of the work of a small request.
 */
export function readBeforeParse(server: EventEmitter): void {
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol !== 'h2') socket.once('pause', () => readThroughStream(socket));
  });
}

/** Node stops consuming from the handle when the listener is added, and does not start again when it is removed. */
function readThroughStream(socket: TLSSocket): void {
  socket.on('data', ignore);
  socket.off('data', ignore);
}

function ignore(): void {}
