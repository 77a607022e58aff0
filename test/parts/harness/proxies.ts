// Proxies for tests, on loopback: HTTP CONNECT, with or without TLS, and SOCKS5.
import { createServer as createHttpServer, type IncomingMessage, request } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { testCredentials } from './memory-server.ts';

export type TestProxy = {
  /** With its login, if it wants one. */
  readonly url: string;
  readonly port: number;
  /** `host:port` of what was requested, or the whole URL. */
  readonly requested: readonly string[];
};

export type TestProxyOptions = {
  readonly login?: string;
  readonly isTls?: boolean;
  /** Accepts connections and never answers. */
  readonly hangs?: boolean;
  /** Names that it resolves, to loopback. */
  readonly status?: string;
};

async function listen(t: TestContext, server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Every name leads to loopback. */
function join(client: Socket, port: number, connected: () => void): void {
  const server = connect(port, '127.0.0.1', () => {
    connected();
    client.pipe(server).pipe(client);
  });
  server.on('error', () => client.destroy());
  client.on('close', () => server.destroy());
}

export async function startHttpProxy(
  t: TestContext,
  { login, isTls = false, hangs = false, status }: TestProxyOptions = {},
): Promise<TestProxy> {
  const requested: string[] = [];
  const expected =
    login === undefined ? undefined : `Basic ${Buffer.from(login).toString('base64')}`;
  const isAllowed = ({ headers }: IncomingMessage): boolean =>
    expected === undefined || headers['proxy-authorization'] === expected;
  const { certificate: cert, privateKey: key } = testCredentials().server;
  const server = isTls ? createHttpsServer({ cert, key }) : createHttpServer();
  server.on('connect', (incoming: IncomingMessage, socket: Socket) => {
    requested.push(incoming.url ?? '');
    if (hangs) return;
    if (!isAllowed(incoming)) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    } else if (status !== undefined) socket.end(`HTTP/1.1 ${status}\r\n\r\n`);
    else {
      const port = Number(incoming.url?.split(':').at(-1));
      join(socket, port, () => socket.write('HTTP/1.1 200 Connection established\r\n\r\n'));
    }
  });
  server.on('request', (incoming, response) => {
    requested.push(incoming.url ?? '');
    const { port, pathname, search } = new URL(incoming.url ?? '');
    if (!isAllowed(incoming)) return void response.writeHead(407).end();
    const forwarded = request(
      { port, path: pathname + search, method: incoming.method, headers: incoming.headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      },
    );
    incoming.pipe(forwarded);
  });
  const port = await listen(t, server);
  const authority = `${login === undefined ? '' : `${login}@`}127.0.0.1:${port}`;
  return { url: `${isTls ? 'https' : 'http'}://${authority}`, port, requested };
}

export async function startSocksProxy(
  t: TestContext,
  { login, hangs = false }: TestProxyOptions = {},
): Promise<TestProxy> {
  const requested: string[] = [];
  const server = createServer((socket) => {
    if (!hangs) void serveSocks(socket, login, (target) => requested.push(target));
  });
  const port = await listen(t, server);
  const authority = `${login === undefined ? '' : `${login}@`}127.0.0.1:${port}`;
  return { url: `socks5://${authority}`, port, requested };
}

async function serveSocks(
  socket: Socket,
  login: string | undefined,
  request: (target: string) => void,
): Promise<void> {
  const read = async (count: number): Promise<Buffer> => {
    for (;;) {
      const bytes: Buffer | null = socket.read(count);
      if (bytes !== null) return bytes;
      await new Promise((resolve) => socket.once('readable', resolve));
    }
  };
  const [, count = 0] = await read(2);
  const offered = await read(count);
  const method = login === undefined ? 0 : 2;
  if (!offered.includes(method)) return void socket.end(Buffer.from([5, 255]));
  socket.write(Buffer.from([5, method]));
  if (login !== undefined) {
    const user = await read((await read(2))[1] ?? 0);
    const password = await read((await read(1))[0] ?? 0);
    const isRight = `${user}:${password}` === login;
    socket.write(Buffer.from([1, isRight ? 0 : 1]));
    if (!isRight) return void socket.end();
  }
  const [, , , type] = await read(4);
  const host =
    type === 3
      ? (await read((await read(1))[0] ?? 0)).toString()
      : (await read(type === 1 ? 4 : 16)).join('.');
  const port = (await read(2)).readUInt16BE();
  request(`${host}:${port}`);
  join(socket, port, () => socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])));
}
