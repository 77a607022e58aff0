// What requests over HTTP/1.1 and HTTP/2 have in common: limits, headers, TLS options, errors.
import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { trimEnd } from '../meta/trim-end.ts';
import type { Connection } from './read-kubeconfig.ts';
import type { Transport, TransportRequest } from './transport.ts';

export type TransportLimits = {
  /** A connection that is not established within this time fails. */
  readonly connectMs: number;
  /** A request fails when nothing is received for this long. Watches are exempt. */
  readonly silenceMs: number;
  /** After this long without received bytes a liveness check is sent, */
  readonly readIdleMs: number;
  /** which must be answered within this time. */
  readonly pingTimeoutMs: number;
  /** A connection without requests is closed after this time. */
  readonly idleTimeoutMs: number;
};

export type HttpTransport = Transport & {
  /** Closes connections as soon as their requests in flight have completed; no new requests follow. */
  readonly retire: () => void;
};

export type ExchangeOptions = {
  readonly connection: Connection;
  readonly limits: TransportLimits;
};

/** TCP keep-alive, for hosts that vanished: the first probe after this time, then ten more a second apart. */
export const keepAliveMs = 15_000;

export const isWatch = ({ path }: TransportRequest): boolean =>
  /[?&]watch=(?:1|true)(?:&|$)/.test(path);

export function pathOf({ server }: Connection, { path }: TransportRequest): string {
  return trimEnd(new URL(server).pathname, '/') + path;
}

export function endpointOf({ server }: Connection): {
  readonly protocol: string;
  readonly host: string;
  readonly port: number;
} {
  const { protocol, hostname, port } = new URL(server);
  const defaultPort = protocol === 'https:' ? 443 : 80;
  return {
    protocol,
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? defaultPort : Number(port),
  };
}

export function tlsOptions(connection: Connection): ConnectionOptions {
  const { certificateAuthority, clientCertificate, clientKey, tlsServerName, skipTlsVerification } =
    connection;
  const { host } = endpointOf(connection);
  const servername = tlsServerName ?? (isIP(host) === 0 ? host : undefined);
  return {
    rejectUnauthorized: !skipTlsVerification,
    ...(certificateAuthority === undefined ? {} : { ca: certificateAuthority }),
    ...(clientCertificate === undefined ? {} : { cert: clientCertificate }),
    ...(clientKey === undefined ? {} : { key: clientKey }),
    ...(servername === undefined ? {} : { servername }),
  };
}

export function headersOf(
  { headers = {}, body, token: requestToken }: TransportRequest,
  { token = requestToken }: Connection,
): Record<string, string | number> {
  return {
    ...headers,
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
  };
}

export const silenceError = ({ server }: Connection, ms: number): Error =>
  new Error(`No response from ${server} for ${ms / 1000} s`);

export class ConnectTimeoutError extends Error {
  readonly code = 'ETIMEDOUT';
  readonly syscall = 'connect';
  constructor(server: string, limitMs: number) {
    super(`Cannot connect to ${server}: no answer within ${limitMs / 1000} s`);
    this.name = 'NotConnected';
  }
}

/** Whether the request that failed with this error never reached a server. */
export function isUnsent(error: unknown): boolean {
  const { syscall } = error as NodeJS.ErrnoException;
  return syscall === 'connect' || syscall === 'getaddrinfo';
}
