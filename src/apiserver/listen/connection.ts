// What the server knows of one connection, and of all requests on it.
import { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { type ReadCertificate, readClientCertificate } from '../../host/client-certificate.ts';
import { createLinkedQueue, type LinkedQueue } from '../../host/linked-queue.ts';
import type { User } from '../access/user.ts';
import type { Peer } from '../message.ts';
import { createStreamBurst, type StreamBurst } from './pace-streams.ts';

export type Connection = {
  /** Replaced when the server trusts another authority. */
  peer: Peer;
  /** PEM of those whom the server trusted when it read the peer. */
  authority: string;
  /** Requests that are being answered, until their answer is taken. */
  requests: number;
  /** Requests so far. */
  begun: number;
  /** Bytes of whole answers that are not taken to the end. */
  held: number;
  /** Requests that have not begun. */
  readonly waiting: LinkedQueue<() => void>;
  /** How fast it begins requests. */
  readonly burst: StreamBurst;
  /** It is closed for having reset too many; what else it asks is not answered. */
  isRefused: boolean;
  /** It carries something else than requests now. */
  isHandedOver: boolean;
  /** To be told of the first user that a request names; absent once it is known whose the connection is. */
  authenticated: ((user: User) => void) | undefined;
};

const connections = new WeakMap<object, Connection>();

/** Undefined before its first request. */
export const knownConnection = (owner: object): Connection | undefined => connections.get(owner);

/**
 * Read once for each connection: taking a certificate apart costs more than most requests. `authority` is whom the
 * server trusts now: when it is another than at the handshake, the certificate is verified again.
 */
export function connectionOf(owner: object, socket: TLSSocket, authority: string): Connection {
  let connection = connections.get(owner);
  if (connection === undefined) {
    const peer = readPeer(socket, socket.authorized);
    connection = {
      peer,
      authority,
      requests: 0,
      begun: 0,
      held: 0,
      waiting: createLinkedQueue(),
      burst: createStreamBurst(performance.now()),
      isRefused: false,
      isHandedOver: false,
      authenticated: undefined,
    };
    connections.set(owner, connection);
  } else if (connection.authority !== authority) {
    connection.authority = authority;
    connection.peer = readPeer(socket, isSignedBy(socket, authority));
  }
  return connection;
}

/** None at all once the connection has gone. */
function readPeer(socket: TLSSocket, isTrusted: boolean): Peer {
  const address = socket.remoteAddress === undefined ? {} : { address: socket.remoteAddress };
  const presented = socket.getPeerX509Certificate();
  if (presented === undefined) return address;
  const certificate = isTrusted ? readKnown(presented) : 'several';
  if (certificate === 'none') return address;
  if (certificate === 'several') return { ...address, untrustedCertificate: true };
  return { ...address, certificate };
}

/** By one of the certificates of `authority` itself: a chain is verified by the handshake of a new connection only. */
function isSignedBy(socket: TLSSocket, authority: string): boolean {
  const presented = socket.getPeerX509Certificate();
  if (presented === undefined || !socket.authorized) return false;
  return (authority.match(pemCertificate) ?? []).some((pem) =>
    presented.verify(new X509Certificate(pem).publicKey),
  );
}

const pemCertificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** By their fingerprints: a client connects again and again, and taking its certificate apart is a tenth of a handshake. */
const certificates = new Map<string, ReadCertificate>();
const maxCertificates = 1000;

function readKnown(presented: X509Certificate): ReadCertificate {
  const { fingerprint256 } = presented;
  let certificate = certificates.get(fingerprint256);
  if (certificate === undefined) {
    certificate = readClientCertificate(presented);
    if (certificates.size >= maxCertificates) certificates.clear();
    certificates.set(fingerprint256, certificate);
  }
  return certificate;
}
