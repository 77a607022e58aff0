// The target of an HTTP probe or hook.
import type { Container } from '../../kinds/pod/container.ts';
import type { HttpGetAction } from '../../kinds/pod/probe.ts';
import type { IntOrString } from '../../schema/int-or-string.ts';

export type HttpTarget = {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** Resolves a port by number or by its name in the container; throws if there is none. */
export function portNumber(port: IntOrString, { ports = [] }: Pick<Container, 'ports'>): number {
  const number = /^\d+$/.test(String(port))
    ? Number(port)
    : ports.find(({ name }) => name === port)?.containerPort;
  if (number === undefined) throw new Error(`couldn't find port: ${port}`);
  if (number > 0 && number < 65_536) return number;
  throw new Error(`invalid port number: ${number}`);
}

export function httpTarget(
  action: HttpGetAction,
  container: Pick<Container, 'ports'>,
  { podIP, userAgent }: { readonly podIP: string; readonly userAgent: string },
): HttpTarget {
  const headers: Record<string, string> = { 'user-agent': userAgent, accept: '*/*' };
  for (const { name, value } of action.httpHeaders ?? []) headers[name.toLowerCase()] = value;
  const path = action.path || '/';
  return {
    scheme: action.scheme?.toUpperCase() === 'HTTPS' ? 'https' : 'http',
    host: action.host || podIP,
    port: portNumber(action.port, container),
    path: path.startsWith('/') ? path : `/${path}`,
    headers,
  };
}

export function targetUrl({ scheme, host, port, path }: HttpTarget): string {
  return `${scheme}://${hostPort(host, port)}${path}`;
}

export function hostPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
