// What requests over HTTP/1.1 and HTTP/2 have in common: limits, headers, TLS options, errors.
import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { trimEnd } from '../meta/trim-end.ts';
import type { Impersonation } from './kubeconfig-user.ts';
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

export type RequestHeaders = Record<string, string | number | string[]>;

export function headersOf(
  { headers = {}, body, token: requestToken }: TransportRequest,
  connection: Connection,
): RequestHeaders {
  const { token = requestToken, impersonation } = connection;
  return {
    ...headers,
    ...(token === undefined ? basicHeaders(connection) : { authorization: `Bearer ${token}` }),
    ...(impersonation === undefined ? {} : impersonationHeaders(impersonation)),
    ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
  };
}

function basicHeaders({ basicAuth }: Connection): RequestHeaders {
  if (basicAuth === undefined) return {};
  const { username, password } = basicAuth;
  const credentials = Buffer.from(`${username}:${password}`).toString('base64');
  return { authorization: `Basic ${credentials}` };
}

function impersonationHeaders({ user, uid, groups, extra }: Impersonation): RequestHeaders {
  return {
    'impersonate-user': headerValue(user),
    ...(uid === undefined ? {} : { 'impersonate-uid': headerValue(uid) }),
    ...(groups.length === 0 ? {} : { 'impersonate-group': groups.map(headerValue) }),
    ...Object.fromEntries(
      Object.entries(extra)
        .filter(([, values]) => values.length > 0)
        .map(([key, values]) => [`impersonate-extra-${headerKey(key)}`, values.map(headerValue)]),
    ),
  };
}

/** As Go, the bytes of UTF-8. */
const headerValue = (text: string): string => Buffer.from(text).toString('latin1');

/** Percent-encodes what header names must not have, as client-go: keys are like `example.com/team`. */
function headerKey(key: string): string {
  return [...Buffer.from(key)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      if (/[\w!#$&'*+.^`|~-]/.test(character)) return character;
      return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
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
