// What the server knows of one connection, and of all requests on it.
import type { TLSSocket } from 'node:tls';
import { createLine, type Line } from '../limits/line.ts';
import type { Peer } from '../message.ts';

export type Connection = {
  readonly peer: Peer;
  /** Requests that are being answered, until their answer is taken. */
  requests: number;
  /** Requests so far. */
  begun: number;
  /** Bytes of whole answers that are not taken to the end. */
  held: number;
  /** Requests that have not begun. */
  readonly waiting: Line<() => void>;
};

const connections = new WeakMap<object, Connection>();

/** Read once for each connection: taking a certificate apart costs more than most requests. */
export function connectionOf(owner: object, socket: TLSSocket): Connection {
  let connection = connections.get(owner);
  if (connection === undefined) {
    connection = { peer: readPeer(socket), requests: 0, begun: 0, held: 0, waiting: createLine() };
    connections.set(owner, connection);
  }
  return connection;
}

function readPeer(socket: TLSSocket): Peer {
  const address = socket.remoteAddress === undefined ? {} : { address: socket.remoteAddress };
  // None at all once the connection has gone.
  const certificate = socket.getPeerCertificate() as {
    subject?: { CN?: string; O?: string | string[] };
    fingerprint256?: string;
  } | null;
  const subject = certificate?.subject;
  if (subject === undefined) return address;
  if (!socket.authorized) return { ...address, untrustedCertificate: true };
  if (subject.CN === undefined) return address;
  const fingerprint = certificate?.fingerprint256?.replaceAll(':', '').toLowerCase();
  return {
    ...address,
    certificate: {
      commonName: subject.CN,
      organizations: [subject.O ?? []].flat(),
      ...(fingerprint === undefined ? {} : { fingerprint }),
    },
  };
}
