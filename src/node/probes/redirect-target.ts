// Where an HTTP probe or hook is redirected to, by the rules of Go's client and of the kubelet (pkg/probe/http).
import type { HttpTarget } from './probe-target.ts';

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Longer ones are no address that a probe could mean. */
const maxLocationLength = 8 * 1024;

/** Undefined: the response is the last one, because it is no redirect or leads to another host. */
export function redirectTarget(
  from: HttpTarget,
  { status, location }: { readonly status: number; readonly location: string | undefined },
): HttpTarget | undefined {
  if (!redirects.has(status) || !location) return undefined;
  const base = `${from.scheme}://${urlHost(from.host)}:${from.port}${from.path}`;
  if (location.length > maxLocationLength || !URL.canParse(location, base)) {
    throw new Error('failed to parse Location header of a redirect');
  }
  const url = new URL(location, base);
  const scheme = url.protocol.slice(0, -1);
  if (scheme !== 'http' && scheme !== 'https') {
    throw new Error(`unsupported protocol scheme "${scheme}"`);
  }
  if (url.hostname !== new URL(base).hostname) return undefined;
  const { host: _host, ...withoutHost } = from.headers;
  const isRelative = !/^(?:[a-z][a-z0-9+.-]{0,31}:|\/\/)/i.test(location);
  return {
    scheme,
    host: from.host,
    port: Number(url.port || (scheme === 'https' ? 443 : 80)),
    path: `${url.pathname}${url.search}`,
    // A host name of the probe's own goes along only while the location names no other.
    headers: isRelative ? from.headers : withoutHost,
  };
}

const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host);
