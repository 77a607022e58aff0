// Works around the same defect of Node's HTTP/1.1 servers over TLS as `read-before-parse.ts`, at no cost to requests: for servers that
// limit by themselves how many requests a client may send ahead of its responses.
import type { EventEmitter } from 'node:events';
import { TLSSocket } from 'node:tls';

/** Node's own mark, which it sets before it pauses a connection whose responses are not written. */
type Pausable = TLSSocket & { _paused?: boolean };

/**
 * Node pauses a connection when a request arrives while the previous response is not yet written, and then its parser. The parser
 * consumes the bytes straight from the TLS handle, which passes on what it has decrypted: a request of several TLS records then fails with
 * "Parse Error: Paused", and the connection is reset. Here Node is refused that pause, so the parser never stops. Pauses for bodies that no one
 * reads stop the socket but not the parser, and remain.
 */
export function keepParsing(server: EventEmitter): void {
  server.on('secureConnection', (socket: Pausable) => {
    if (socket.alpnProtocol !== 'h2') socket.pause = pauseForBodies;
  });
}

const { pause } = TLSSocket.prototype;

function pauseForBodies(this: Pausable): Pausable {
  if (this._paused !== true) return pause.call(this) as Pausable;
  this._paused = false;
  return this;
}
