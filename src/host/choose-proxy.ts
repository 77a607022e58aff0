// Which proxy leads to a server: that of the kubeconfig, else that of the environment, by the rules of Go's net/http
// (golang.org/x/net/http/httpproxy). Pure.
import { compareAddresses, isLoopback, parseAddress, unmapped } from '../ip/address.ts';
import { containsAddress, parseCidr } from '../ip/cidr.ts';

export type ProxyServer = {
  readonly protocol: 'http' | 'https' | 'socks5';
  readonly host: string;
  readonly port: number;
  readonly login?: { readonly user: string; readonly password: string };
};

/** The variables that name proxies. */
export type ProxyVariables = {
  readonly http?: string;
  readonly https?: string;
  /** Names, addresses and ranges that are reached directly. */
  readonly none?: string;
};

export type ProxyOptions = {
  readonly server: string;
  /** Of the cluster in the kubeconfig: for all addresses, loopback too. */
  readonly proxyUrl?: string;
  readonly proxyVariables?: ProxyVariables;
};

/** The message does not repeat the URL, which may contain a password. */
export class ProxyUrlError extends Error {
  override readonly name = 'ProxyUrlError';
}

const defaultPorts = { http: 80, https: 443, socks5: 1080 } as const;

/** Undefined when no variable names a proxy. Upper case takes precedence. */
export function readProxyVariables(
  env: Readonly<Record<string, string | undefined>>,
): ProxyVariables | undefined {
  const read = (name: string): string | undefined =>
    env[name] || env[name.toLowerCase()] || undefined;
  // In a CGI program HTTP_PROXY is a header of the request.
  const http = env.REQUEST_METHOD === undefined ? read('HTTP_PROXY') : undefined;
  const https = read('HTTPS_PROXY');
  const none = read('NO_PROXY');
  if (http === undefined && https === undefined) return undefined;
  return {
    ...(http === undefined ? {} : { http }),
    ...(https === undefined ? {} : { https }),
    ...(none === undefined ? {} : { none }),
  };
}

export function chooseProxy({
  server,
  proxyUrl,
  proxyVariables,
}: ProxyOptions): ProxyServer | undefined {
  if (proxyUrl !== undefined) return parseProxy(proxyUrl, 'the proxy-url of the kubeconfig');
  const { protocol } = new URL(server);
  const [text, name] =
    protocol === 'https:'
      ? [proxyVariables?.https, 'HTTPS_PROXY']
      : [proxyVariables?.http, 'HTTP_PROXY'];
  if (text === undefined || isDirect(server, proxyVariables?.none ?? '')) return undefined;
  const hasScheme = /^[a-z][a-z\d+.-]*:\/\//i.test(text);
  return parseProxy(hasScheme ? text : `http://${text}`, `$${name}`);
}

/** Without the password. */
export const proxyText = ({ protocol, host, port }: ProxyServer): string =>
  `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`;

function parseProxy(text: string, where: string): ProxyServer {
  // The text may contain a password, so messages do not repeat it.
  if (!URL.canParse(text)) {
    throw new ProxyUrlError(`Cannot use ${where}: it is not a URL`);
  }
  const url = new URL(text);
  const protocol = url.protocol.replace(/h?:$/, '');
  if (protocol !== 'http' && protocol !== 'https' && protocol !== 'socks5') {
    throw new ProxyUrlError(
      `Cannot use ${where}: its scheme is "${url.protocol.slice(0, -1)}", want http, https or socks5`,
    );
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (host === '') throw new ProxyUrlError(`Cannot use ${where}: it has no host`);
  return {
    ...{ protocol, host },
    port: url.port === '' ? defaultPorts[protocol] : Number(url.port),
    ...(url.username === ''
      ? {}
      : {
          login: {
            user: decodeURIComponent(url.username),
            password: decodeURIComponent(url.password),
          },
        }),
  };
}

/** Loopback addresses and what NO_PROXY lists. */
function isDirect(server: string, none: string): boolean {
  const { protocol, hostname, port: given } = new URL(server);
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const port = given === '' ? (protocol === 'https:' ? '443' : '80') : given;
  const address = parseAddress(host);
  if (host === 'localhost' || (address !== undefined && isLoopback(address))) return true;
  return none.split(',').some((entry) => {
    const text = entry.trim().toLowerCase();
    if (text === '') return false;
    if (text === '*') return true;
    const range = parseCidr(text);
    if (range !== undefined) return address !== undefined && containsAddress(range, address);
    const [name, wantedPort] = splitPort(text);
    if (name === '' || (wantedPort !== '' && wantedPort !== port)) return false;
    const listed = parseAddress(name);
    if (listed === undefined) return isBelow(host, name);
    return address !== undefined && compareAddresses(unmapped(listed), unmapped(address)) === 0;
  });
}

/** `example.com` means itself and what is below it, `.example.com` and `*.example.com` only what is below. */
function isBelow(host: string, name: string): boolean {
  const suffix = name.startsWith('*.') ? name.slice(1) : name;
  if (suffix.startsWith('.')) return host.endsWith(suffix);
  return host === suffix || host.endsWith(`.${suffix}`);
}

function splitPort(text: string): readonly [string, string] {
  const bracketed = /^\[(.*)\](?::(\d+))?$/.exec(text);
  if (bracketed !== null) return [bracketed[1] ?? '', bracketed[2] ?? ''];
  const [, name = text, port = ''] = /^([^:]*):(\d+)$/.exec(text) ?? [];
  return [name, port];
}
