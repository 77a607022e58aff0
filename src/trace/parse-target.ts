// What a connection goes to, as people write it: a URL, name:port, ip:port, svc/NAME, node/NAME:port.
import { formatAddress, parseAddressSloppy } from '../ip/address.ts';
import type { Protocol } from '../proxy/model/state.ts';

export type Target =
  | { readonly kind: 'name'; readonly host: string; readonly port?: number }
  | { readonly kind: 'address'; readonly ip: string; readonly port: number }
  | {
      readonly kind: 'service';
      readonly namespace?: string;
      readonly name: string;
      /** A number, or the name of a port. */
      readonly port?: string;
    }
  | { readonly kind: 'node'; readonly name: string; readonly port: number };

export type SourceRequest =
  | { readonly kind: 'any-pod' }
  | { readonly kind: 'pod'; readonly namespace?: string; readonly name: string }
  | { readonly kind: 'node'; readonly name: string }
  | { readonly kind: 'outside'; readonly ip?: string };

export type Parsed<T> = { readonly value: T } | { readonly error: string };

/** Longer texts are no names. */
const maxLength = 2000;
const maxPort = 65_535;
/** Ports of schemes that programs know by heart. */
const schemePorts: Readonly<Record<string, number>> = {
  http: 80,
  https: 443,
  ws: 80,
  wss: 443,
  ftp: 21,
  ssh: 22,
  ldap: 389,
  ldaps: 636,
  amqp: 5672,
  amqps: 5671,
  mysql: 3306,
  postgres: 5432,
  postgresql: 5432,
  redis: 6379,
  rediss: 6379,
  mongodb: 27_017,
  nats: 4222,
  grpc: 443,
  dns: 53,
};

const forms =
  'want a URL, NAME:PORT, IP:PORT, [IPV6]:PORT, svc/[NAMESPACE/]NAME[:PORT] or node/NAME:PORT';

export function parseTarget(text: string): Parsed<Target> {
  const bad = (why: string) => ({ error: `Cannot trace to "${shown(text)}": ${why}` });
  if (text === '' || text.length > maxLength || /\s/.test(text)) return bad(forms);
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text);
  if (scheme !== null) {
    const name = (scheme[1] ?? '').toLowerCase();
    const authority = text.slice(scheme[0].length).split(/[/?#]/, 1)[0] ?? '';
    const host = authority.slice(authority.lastIndexOf('@') + 1);
    return hostTarget(host, schemePorts[name], bad);
  }
  const parts = text.split('/');
  if (parts.length > 1) return resourceTarget(parts, bad);
  return hostTarget(text, undefined, bad);
}

type Bad = (why: string) => { readonly error: string };

function resourceTarget([type = '', ...rest]: readonly string[], bad: Bad): Parsed<Target> {
  const [name = '', port, ...more] = (rest.at(-1) ?? '').split(':');
  if (more.length > 0) return bad(forms);
  const word = type.toLowerCase();
  if (['node', 'nodes', 'no'].includes(word) && rest.length === 1) {
    return nodeTarget(name, port, bad);
  }
  const isService = ['svc', 'service', 'services'].includes(word) && rest.length <= 2;
  if (!isService) return bad(forms);
  const [namespace] = rest.length === 2 ? rest : [];
  return serviceTarget({ namespace, name, port }, bad);
}

function nodeTarget(name: string, port: string | undefined, bad: Bad): Parsed<Target> {
  if (!isName(name)) return bad(`"${name}" is no name of a node`);
  const number = portNumber(port);
  return number === undefined
    ? bad(`a node needs a port from 1 to ${maxPort}, as in node/${name}:30080`)
    : { value: { kind: 'node', name, port: number } };
}

type ServiceWords = {
  readonly namespace: string | undefined;
  readonly name: string;
  readonly port: string | undefined;
};

function serviceTarget({ namespace, name, port }: ServiceWords, bad: Bad): Parsed<Target> {
  for (const one of namespace === undefined ? [name] : [namespace, name]) {
    if (!isLabel(one)) return bad(`"${one}" is no name of a namespace or Service`);
  }
  if (port !== undefined && portNumber(port) === undefined && !isLabel(port)) {
    return bad(`"${port}" is neither a port from 1 to ${maxPort} nor the name of one`);
  }
  return {
    value: {
      kind: 'service',
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(port === undefined ? {} : { port }),
    },
  };
}

function hostTarget(text: string, schemePort: number | undefined, bad: Bad): Parsed<Target> {
  const bracketed = /^\[([^\]]*)\](?::(.*))?$/.exec(text);
  const bare = bracketed === null ? splitPort(text) : undefined;
  const host = bracketed?.[1] ?? bare?.host ?? '';
  const portText = bracketed === null ? bare?.port : bracketed[2];
  const port = portText === undefined ? schemePort : portNumber(portText);
  if (portText !== undefined && port === undefined) {
    const named = isLabel(portText) && isLabel(host) ? `, or svc/${host}:${portText}` : '';
    return bad(`"${portText}" is not a port, want a number from 1 to ${maxPort}${named}`);
  }
  const address = parseAddressSloppy(host);
  if (address !== undefined) {
    return port === undefined
      ? bad('an address needs a port, as in 10.96.0.1:443 or [fd00::1]:443')
      : { value: { kind: 'address', ip: formatAddress(address), port } };
  }
  const name = asciiName(host);
  if (bracketed !== null || !isName(name)) return bad(forms);
  return { value: { kind: 'name', host: name, ...(port === undefined ? {} : { port }) } };
}

/** As browsers and clients send names of other scripts: `bücher.example` is `xn--bcher-kva.example`. */
function asciiName(host: string): string {
  const isAscii = /^[\x20-\x7e]*$/.test(host);
  return !isAscii && URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : host;
}

/** A bare IPv6 address has more than one colon, and no port. */
function splitPort(text: string): { readonly host: string; readonly port?: string } {
  const [host = '', port, ...more] = text.split(':');
  return port === undefined || more.length > 0 ? { host: text } : { host, port };
}

export function parseSource(text: string): Parsed<SourceRequest> {
  const bad = {
    error: `--from: "${shown(text)}" is no source, want pod/[NAMESPACE/]NAME, node/NAME or outside[=IP]`,
  };
  const outside = /^outside(?:=(.+))?$/.exec(text);
  if (outside !== null) {
    if (outside[1] === undefined) return { value: { kind: 'outside' } };
    const address = parseAddressSloppy(outside[1]);
    return address === undefined
      ? { error: `--from: "${shown(outside[1])}" is not an IP address` }
      : { value: { kind: 'outside', ip: formatAddress(address) } };
  }
  const [type = '', ...rest] = text.split('/');
  const name = rest.at(-1) ?? '';
  if (!isName(name)) return bad;
  if (['node', 'no'].includes(type) && rest.length === 1) return { value: { kind: 'node', name } };
  if (!['pod', 'po'].includes(type) || rest.length > 2) return bad;
  const [namespace] = rest.length === 2 ? rest : [];
  if (namespace !== undefined && !isLabel(namespace)) return bad;
  return { value: { kind: 'pod', name, ...(namespace === undefined ? {} : { namespace }) } };
}

export function parseProtocol(text: string): Protocol | undefined {
  const upper = text.toUpperCase();
  return upper === 'TCP' || upper === 'UDP' || upper === 'SCTP' ? upper : undefined;
}

function portNumber(text: string | undefined): number | undefined {
  const number = text !== undefined && /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
  return number >= 1 && number <= maxPort ? number : undefined;
}

const maxNameLength = 254;

function isLabel(text: string): boolean {
  return text.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/i.test(text);
}

function isName(text: string): boolean {
  if (text.length > maxNameLength) return false;
  const bare = text.endsWith('.') ? text.slice(0, -1) : text;
  return bare.split('.').every((label) => label.length <= 63 && /^[\w*]([-\w]*\w)?$/.test(label));
}

function shown(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
