// The state of one connection, and of all requests on it.
import { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { type ReadCertificate, readClientCertificate } from '../../host/client-certificate.ts';
import { createLinkedQueue, type LinkedQueue } from '../../host/linked-queue.ts';
import type { User } from '../access/user.ts';
import type { Peer } from '../message.ts';
import { createStreamBurst, type StreamBurst } from './pace-streams.ts';

export type Connection = {
  /** Replaced when the server's client CA changes. */
  peer: Peer;
  /** The client CA, in PEM, with which the peer was verified. */
  clientCa: string;
  /** Requests in flight, until their response is read. */
  requests: number;
  /** Of all time. */
  requestsStarted: number;
  /** Bytes of complete responses that are not read to the end. */
  unreadBytes: number;
  /** Requests that have not started. */
  readonly waiting: LinkedQueue<() => void>;
  /** How fast it starts requests. */
  readonly burst: StreamBurst;
  /** It is being closed because of too many resets; its further requests are not answered. */
  isRefused: boolean;
  /** It carries another protocol than HTTP now. */
  isUpgraded: boolean;
  /** Called with the first authenticated user of a request; absent once the connection has a user. */
  onAuthenticated: ((user: User) => void) | undefined;
};

const connections = new WeakMap<object, Connection>();

/** Undefined before its first request. */
export const findConnection = (transport: object): Connection | undefined =>
  connections.get(transport);

/**
 * Reads the certificate once for each connection: parsing it costs more than most requests. When the client CA has
 * changed since the handshake, the certificate is verified again. Its expiry is checked on every request, by
 * `access/authenticate.ts`.
 */
export function connectionOf(transport: object, socket: TLSSocket, clientCa: string): Connection {
  let connection = connections.get(transport);
  if (connection === undefined) {
    const peer = readPeer(socket, socket.authorized);
    connection = {
      peer,
      clientCa,
      requests: 0,
      requestsStarted: 0,
      unreadBytes: 0,
      waiting: createLinkedQueue(),
      burst: createStreamBurst(performance.now()),
      isRefused: false,
      isUpgraded: false,
      onAuthenticated: undefined,
    };
    connections.set(transport, connection);
  } else if (connection.clientCa !== clientCa) {
    connection.clientCa = clientCa;
    connection.peer = readPeer(socket, isSignedBy(socket, clientCa));
  }
  return connection;
}

/** Empty once the connection is closed. */
function readPeer(socket: TLSSocket, isTrusted: boolean): Peer {
  const address = socket.remoteAddress === undefined ? {} : { address: socket.remoteAddress };
  const presented = socket.getPeerX509Certificate();
  if (presented === undefined) return address;
  const certificate = isTrusted ? readCached(presented) : 'several';
  if (certificate === 'none') return address;
  if (certificate === 'several') return { ...address, untrustedCertificate: true };
  return { ...address, certificate };
}

/** Signed directly by one of the certificates of the CA: only the handshake of a new connection verifies a chain. */
function isSignedBy(socket: TLSSocket, clientCa: string): boolean {
  const presented = socket.getPeerX509Certificate();
  if (presented === undefined || !socket.authorized) return false;
  return (clientCa.match(pemCertificate) ?? []).some((pem) =>
    presented.verify(new X509Certificate(pem).publicKey),
  );
}

const pemCertificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** By fingerprint: clients reconnect, and parsing a certificate costs a tenth of a handshake. */
const certificates = new Map<string, ReadCertificate>();
const maxCertificates = 1000;

function readCached(presented: X509Certificate): ReadCertificate {
  const { fingerprint256 } = presented;
  let certificate = certificates.get(fingerprint256);
  if (certificate === undefined) {
    certificate = readClientCertificate(presented);
    if (certificates.size >= maxCertificates) certificates.clear();
    certificates.set(fingerprint256, certificate);
  }
  return certificate;
}
