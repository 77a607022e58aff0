// What requests have in common, whichever version of HTTP carries them.
import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { trimEnd } from '../meta/trim-end.ts';
import type { Connection } from './read-kubeconfig.ts';
import type { Transport, TransportRequest } from './transport.ts';

export type TransportLimits = {
  /** Who does not take a connection in this time is not there. */
  readonly connectMs: number;
  /** A request that nothing comes for in this time is not answered any more; watches may be quiet for long. */
  readonly silenceMs: number;
  /** A server from which nothing came for this time is asked whether it is there, which has to answer in the second time. */
  readonly readIdleMs: number;
  readonly pingTimeoutMs: number;
  /** A connection that nobody used for this time is closed. */
  readonly idleTimeoutMs: number;
};

export type HttpTransport = Transport & {
  /** No new requests come: connections end as soon as what is under way on them does. */
  readonly retire: () => void;
};

export type ExchangeOptions = {
  readonly connection: Connection;
  readonly limits: TransportLimits;
};

/** Of a machine that is gone: the kernel asks after this time, and ten times more in the ten seconds after that. */
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
  { headers = {}, body, token: shown }: TransportRequest,
  { token = shown }: Connection,
): Record<string, string | number> {
  return {
    ...headers,
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
  };
}

export const silent = ({ server }: Connection, ms: number): Error =>
  new Error(`Cannot go on: nothing came from ${server} for ${ms / 1000} s`);

export class NotConnected extends Error {
  readonly code = 'ETIMEDOUT';
  readonly syscall = 'connect';
  constructor(server: string, limitMs: number) {
    super(`Cannot connect to ${server}: no answer within ${limitMs / 1000} s`);
    this.name = 'NotConnected';
  }
}

/** Whether the request that failed with this never reached a server. */
export function isUnsent(error: unknown): boolean {
  const { syscall } = error as NodeJS.ErrnoException;
  return syscall === 'connect' || syscall === 'getaddrinfo';
}
