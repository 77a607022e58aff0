// Connects to a server through a proxy: HTTP CONNECT (RFC 9110) or SOCKS5 (RFC 1928, 1929). The proxy resolves the server's name.
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { parseAddress } from '../ip/address.ts';
import { type ProxyServer, proxyText } from './choose-proxy.ts';

export type TunnelOptions = {
  readonly proxy: ProxyServer;
  readonly host: string;
  readonly port: number;
  /** For a proxy that is reached over TLS. */
  readonly tls: ConnectionOptions;
  /** Aborts with the error of the connection. */
  readonly signal: AbortSignal;
};

/** Nothing has been sent to the server. */
export class ProxyError extends Error {
  readonly code = 'EPROXY';
  readonly syscall = 'connect';
  constructor(proxy: ProxyServer, what: string, options?: ErrorOptions) {
    super(`the proxy ${proxyText(proxy)} ${what}`, options);
    this.name = 'ProxyError';
  }
}

/** Resolves to a socket whose other end is the server. */
export async function openTunnel(options: TunnelOptions): Promise<Socket> {
  const { proxy, signal } = options;
  signal.throwIfAborted();
  try {
    return await (proxy.protocol === 'socks5' ? openSocks(options) : openConnect(options));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ProxyError) throw error;
    throw new ProxyError(proxy, `cannot be used: ${textOf(error)}`, { cause: error });
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Opens a socket to the proxy itself. */
export async function dialProxy({ proxy, tls, signal }: TunnelOptions): Promise<Socket> {
  const to = { host: proxy.host, port: proxy.port };
  const isTls = proxy.protocol === 'https';
  const servername = isIP(proxy.host) === 0 ? { servername: proxy.host } : {};
  const socket = isTls ? connectTls({ ...tls, ...servername, ...to }) : connect(to);
  const abort = (): void => void socket.destroy();
  signal.addEventListener('abort', abort, { once: true });
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once(isTls ? 'secureConnect' : 'connect', resolve);
      socket.once('error', reject);
      socket.once('close', () => reject(new Error('the connection was closed')));
    });
    return socket;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

async function openConnect(options: TunnelOptions): Promise<Socket> {
  const { proxy, host, port, signal } = options;
  const dialed = await dialProxy(options);
  const authority = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const { response, socket } = await new Promise<Answered>((resolve, reject) => {
    const request = (proxy.protocol === 'https' ? httpsRequest : httpRequest)({
      method: 'CONNECT',
      path: authority,
      headers: { host: authority, ...proxyAuthorization(proxy) },
      createConnection: () => dialed,
      signal,
    });
    request.once('connect', (response, socket: Socket, rest) => {
      // A server that speaks first; TLS servers do not.
      if (rest.length > 0) socket.unshift(rest);
      resolve({ response, socket });
    });
    request.once('response', () => reject(new Error('it did not answer CONNECT')));
    request.once('error', reject);
    request.end();
  }).catch((error: unknown) => {
    dialed.destroy();
    throw error;
  });
  const { statusCode = 0, statusMessage = '' } = response;
  if (statusCode >= 200 && statusCode < 300) return socket;
  socket.destroy();
  const status = `${statusCode} ${statusMessage}`.trim();
  throw new ProxyError(proxy, `refuses to connect to ${authority}: ${status}`);
}

type Answered = { readonly response: IncomingMessage; readonly socket: Socket };

export function proxyAuthorization({ login }: ProxyServer): Record<string, string> {
  if (login === undefined) return {};
  const credentials = Buffer.from(`${login.user}:${login.password}`).toString('base64');
  return { 'proxy-authorization': `Basic ${credentials}` };
}

const socksVersion = 5;
const loginVersion = 1;
const methods = { none: 0, login: 2 } as const;
const connectCommand = 1;
const addressTypes = { ipv4: 1, name: 3, ipv6: 4 } as const;
const socksReplies: Readonly<Record<number, string>> = {
  1: 'general failure',
  2: 'not allowed by its rules',
  3: 'network unreachable',
  4: 'host unreachable',
  5: 'connection refused',
  6: 'TTL expired',
  7: 'command not supported',
  8: 'address type not supported',
};

async function openSocks(options: TunnelOptions): Promise<Socket> {
  const { proxy, host, port, signal } = options;
  const socket = await dialProxy(options);
  const abort = (): void => void socket.destroy();
  signal.addEventListener('abort', abort, { once: true });
  try {
    const read = bytesOf(socket);
    await chooseMethod(proxy, socket, read);
    const target = Buffer.concat([socksAddress(host), Buffer.from([port >> 8, port & 0xff])]);
    socket.write(Buffer.concat([Buffer.from([socksVersion, connectCommand, 0]), target]));
    const [version, reply = 0, , type] = await read(4);
    if (version !== socksVersion) throw new ProxyError(proxy, 'does not speak SOCKS5');
    if (reply !== 0) {
      const why = socksReplies[reply] ?? `reply ${reply}`;
      throw new ProxyError(proxy, `refuses to connect to ${host}:${port}: ${why}`);
    }
    const length = type === addressTypes.name ? ((await read(1))[0] ?? 0) : type === 1 ? 4 : 16;
    await read(length + 2);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

type ReadBytes = (count: number) => Promise<Buffer>;

async function chooseMethod(proxy: ProxyServer, socket: Socket, read: ReadBytes): Promise<void> {
  const { login } = proxy;
  const offered = login === undefined ? [methods.none] : [methods.none, methods.login];
  socket.write(Buffer.from([socksVersion, offered.length, ...offered]));
  const [version, method] = await read(2);
  if (version !== socksVersion) throw new ProxyError(proxy, 'does not speak SOCKS5');
  if (method === methods.none) return;
  if (method !== methods.login || login === undefined) {
    throw new ProxyError(proxy, 'wants an authentication that the URL does not have');
  }
  const [user, password] = [Buffer.from(login.user), Buffer.from(login.password)];
  socket.write(
    Buffer.concat([
      ...[Buffer.from([loginVersion, user.length]), user],
      ...[Buffer.from([password.length]), password],
    ]),
  );
  const [, status] = await read(2);
  if (status !== 0) throw new ProxyError(proxy, 'refuses the user name or the password');
}

function socksAddress(host: string): Buffer {
  const address = parseAddress(host);
  if (address === undefined) {
    const name = Buffer.from(host);
    return Buffer.concat([Buffer.from([addressTypes.name, name.length]), name]);
  }
  const isFour = address.family === 'IPv4';
  const hex = address.value.toString(16).padStart(isFour ? 8 : 32, '0');
  const type = isFour ? addressTypes.ipv4 : addressTypes.ipv6;
  return Buffer.concat([Buffer.from([type]), Buffer.from(hex, 'hex')]);
}

/** Reads exactly so many bytes; what follows stays in the socket. */
function bytesOf(socket: Socket): ReadBytes {
  return async (count) => {
    for (;;) {
      const bytes: Buffer | null = count === 0 ? Buffer.alloc(0) : socket.read(count);
      if (bytes !== null && bytes.length === count) return bytes;
      if (socket.readableEnded || socket.destroyed) throw new Error('the connection was closed');
      await new Promise<void>((resolve, reject) => {
        const end = (): void => {
          socket.off('readable', end).off('close', end).off('error', reject);
          resolve();
        };
        socket.once('readable', end).once('close', end).once('error', reject);
      });
    }
  };
}
