// Works around a defect of Node's HTTP/1.1 servers over TLS. A pipelined request that arrives while the previous response is not yet
// written makes Node pause the connection and its parser. By default the parser consumes the bytes straight from the TLS handle, which
// ignores the pause: a request of several TLS records then fails with "Parse Error: Paused", and the connection is reset. With a 'data'
// listener Node reads through the stream instead, which honours the pause. Servers that limit how many requests a client sends ahead use
// `keep-parsing.ts`, which costs nothing.
import type { EventEmitter } from 'node:events';
import type { TLSSocket } from 'node:tls';

/**
 * Call after the server is created: its own listener for connections must run first. All connections are switched at their start, although
 * the stream costs a sixth of the work of a small request: one that is switched when it is paused stays stopped now and then, because Node
 * has stopped its handle by then without noting so. Of 1,500 requests beside slow readers, 14 were never read to their end.
 */
export function readBeforeParse(server: EventEmitter): void {
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') return;
    // Node stops consuming from the handle when the listener is added, and does not start again when it is removed.
    socket.on('data', ignore);
    socket.off('data', ignore);
  });
}

function ignore(): void {}
