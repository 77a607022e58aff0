// The headers that a proxy forwards, and those that it adds.
import { withoutToken } from '../access/web-socket-token.ts';
import type { ApiRequest, VerbRequest } from '../message.ts';

type Headers = Readonly<Record<string, string | readonly string[]>>;

/** Hop-by-hop headers (RFC 9110, 7.6.1). */
const perConnection = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
];

/** Credentials for this server are not forwarded. */
const forThisServer = ['authorization', 'content-length', 'expect'];

export type Forwarded = {
  /** Of the proxied path, without what is forwarded: `/api/v1/namespaces/a/services/b/proxy`. */
  readonly prefix: string;
  /** The forwarded part, undecoded. */
  readonly path: string;
};

export function requestHeaders(request: VerbRequest, { prefix, path }: Forwarded): Headers {
  const { headers, peer } = request;
  const host = text(headers.host) ?? text(headers[':authority']);
  const passed = passing(headers).filter(
    ([name]) => !forThisServer.includes(name) && !name.startsWith('impersonate-'),
  );
  const before = text(headers['x-forwarded-for']);
  const through = [before, peer.address].filter((part) => part !== undefined).join(', ');
  return {
    ...Object.fromEntries(passed),
    ...webSocketProtocols(headers['sec-websocket-protocol']),
    ...(host === undefined ? {} : { host, 'x-forwarded-host': host }),
    'x-forwarded-proto': 'https',
    'x-forwarded-uri': `${prefix}${path.split('?')[0]}`,
    ...(through === '' ? {} : { 'x-forwarded-for': through }),
  };
}

function webSocketProtocols(value: string | readonly string[] | undefined): Headers {
  return value === undefined ? {} : { 'sec-websocket-protocol': withoutToken(value) };
}

/** A backend must not allow other origins access to this server. */
const ofOrigins = [
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
];

export function responseHeaders(headers: ApiRequest['headers']): Headers {
  return Object.fromEntries(passing(headers).filter(([name]) => !ofOrigins.includes(name)));
}

function passing(
  headers: ApiRequest['headers'],
): readonly (readonly [string, string | readonly string[]])[] {
  const named = (text(headers.connection) ?? '').split(',').map((n) => n.trim().toLowerCase());
  return Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ||
    name.startsWith(':') ||
    perConnection.includes(name) ||
    named.includes(name)
      ? []
      : [[name, value] as const],
  );
}

const text = (value: string | readonly string[] | undefined): string | undefined =>
  typeof value === 'string' || value === undefined ? value : value.join(', ');
