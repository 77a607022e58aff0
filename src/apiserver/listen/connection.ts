// What the server knows of one connection, and of all requests on it.
import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { createLine, type Line } from '../../host/line.ts';
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
  const presented = socket.getPeerX509Certificate();
  if (presented === undefined) return address;
  if (!socket.authorized) return { ...address, untrustedCertificate: true };
  const certificate = readCertificate(presented);
  return certificate === undefined ? address : { ...address, certificate };
}

type Certificate = Peer['certificate'];

/** By their fingerprints: a client connects again and again, and taking its certificate apart is a tenth of a handshake. */
const certificates = new Map<string, Certificate>();
const mostCertificates = 1000;

function readCertificate(presented: X509Certificate): Certificate {
  const fingerprint = presented.fingerprint256.replaceAll(':', '').toLowerCase();
  if (certificates.has(fingerprint)) return certificates.get(fingerprint);
  const { subject } = presented.toLegacyObject() as {
    readonly subject?: { readonly CN?: string; readonly O?: string | string[] };
  };
  const certificate =
    subject?.CN === undefined
      ? undefined
      : { commonName: subject.CN, organizations: [subject.O ?? []].flat(), fingerprint };
  if (certificates.size >= mostCertificates) certificates.clear();
  certificates.set(fingerprint, certificate);
  return certificate;
}
