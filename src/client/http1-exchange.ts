// Requests over HTTP/1.1, for servers without HTTP/2. Each watch has its own connection; when a watch is idle, a request to /livez on another
// connection tells whether the server is alive.
import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { chooseProxy } from '../host/choose-proxy.ts';
import { proxyAuthorization } from '../host/open-tunnel.ts';
import {
  ConnectTimeoutError,
  type ExchangeOptions,
  endpointOf,
  type HttpTransport,
  headersOf,
  isWatch,
  keepAliveMs,
  pathOf,
  silenceError,
  type TransportLimits,
  tlsOptions,
} from './exchange.ts';
import { openPlainSocket, openTlsSocket } from './open-socket.ts';
import type { Connection } from './read-kubeconfig.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';

/** Any response, of whatever status, proves that the server is alive. */
const livenessPath = '/livez';

type Target = {
  readonly connection: Connection;
  readonly limits: TransportLimits;
  readonly agent: HttpAgent | HttpsAgent;
};

export function createHttp1Exchange({ connection, limits }: ExchangeOptions): HttpTransport {
  const agent = createAgent({ connection, limits });
  const target = { connection, limits, agent };
  const isAlive = createLivenessCheck(target);
  return {
    send: (request) =>
      new Promise<TransportResponse>((resolve, reject) => {
        const watches = isWatch(request);
        const timeoutMs = watches ? limits.readIdleMs : limits.silenceMs;
        const outgoing = startRequest(target, request, timeoutMs, (incoming) =>
          resolve(toResponse(incoming)),
        );
        outgoing.on('timeout', () => {
          if (watches) void keepWatch(target, outgoing, isAlive);
          else outgoing.destroy(silenceError(connection, timeoutMs));
        });
        outgoing.on('error', reject);
        outgoing.end(request.body);
      }),
    retire() {
      agent.maxFreeSockets = 0;
      for (const idle of Object.values(agent.freeSockets)) {
        for (const socket of idle ?? []) socket.destroy();
      }
    },
    close: () => {
      agent.destroy();
      return Promise.resolve();
    },
  };
}

function createAgent(options: ExchangeOptions): HttpAgent | HttpsAgent {
  const { connection } = options;
  const keepAliveOptions = { keepAlive: true, keepAliveMsecs: keepAliveMs };
  const isTls = connection.server.startsWith('https:');
  const agent = isTls
    ? new HttpsAgent({ ...keepAliveOptions, ...tlsOptions(connection) })
    : new HttpAgent(keepAliveOptions);
  const proxy = chooseProxy(connection);
  if (proxy === undefined) return agent;
  const open = (): Promise<Socket> =>
    isTls ? openTlsSocket(options, ['http/1.1']) : openPlainSocket(options, proxy);
  // The agent's own way to make connections, which its types do not name.
  return Object.assign(agent, {
    createConnection(_options: unknown, done: (error: Error | null, socket?: Socket) => void) {
      open().then((socket) => done(null, socket), done);
    },
  });
}

/** What a server without TLS gets through an HTTP proxy has its whole URL in the first line, and is authenticated to the proxy. */
function forwardOptions(connection: Connection): {
  readonly prefix: string;
  readonly headers: Record<string, string>;
} {
  const proxy = connection.server.startsWith('http:') ? chooseProxy(connection) : undefined;
  if (proxy === undefined || proxy.protocol === 'socks5') return { prefix: '', headers: {} };
  return { prefix: new URL(connection.server).origin, headers: proxyAuthorization(proxy) };
}

function startRequest(
  { connection, limits, agent }: Target,
  request: TransportRequest,
  timeout: number,
  answered: (incoming: IncomingMessage) => void,
): ClientRequest {
  const { protocol, host, port } = endpointOf(connection);
  const forward = forwardOptions(connection);
  const outgoing = (protocol === 'https:' ? httpsRequest : httpRequest)(
    {
      ...{ protocol, hostname: host, port },
      method: request.method,
      path: forward.prefix + pathOf(connection, request),
      headers: { ...headersOf(request, connection), ...forward.headers },
      agent,
      timeout,
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    },
    answered,
  );
  limitConnecting(outgoing, connection.server, limits.connectMs);
  return outgoing;
}

/** Keeps an idle watch open while its server is alive. Node emits a request's timeout once, so it is armed again on the socket. */
async function keepWatch(
  target: Target,
  watch: ClientRequest,
  isAlive: () => Promise<boolean>,
): Promise<void> {
  const { readIdleMs, pingTimeoutMs } = target.limits;
  if (!(await isAlive()))
    watch.destroy(silenceError(target.connection, readIdleMs + pingTimeoutMs));
  const { socket } = watch;
  // The watch ended meanwhile, and its connection may serve another request by now.
  if (watch.destroyed || socket === null) return;
  const again = (): void => {
    watch.off('close', forget);
    void keepWatch(target, watch, isAlive);
  };
  const forget = (): void => void socket.off('timeout', again);
  watch.once('close', forget);
  socket.setTimeout(readIdleMs, again);
}

/** One check at a time, shared by all watches of the transport. */
function createLivenessCheck(target: Target): () => Promise<boolean> {
  const { pingTimeoutMs } = target.limits;
  let pending: Promise<boolean> | undefined;
  return () => {
    pending ??= new Promise<boolean>((resolve) => {
      const request = { method: 'GET', path: livenessPath };
      const outgoing = startRequest(target, request, pingTimeoutMs, (incoming) => {
        incoming.resume();
        resolve(true);
      });
      // The request's own timeout does not cover connecting.
      const timer = setTimeout(() => outgoing.destroy(), pingTimeoutMs);
      outgoing.on('error', () => resolve(false));
      outgoing.on('close', () => {
        clearTimeout(timer);
        resolve(false);
      });
      outgoing.end();
    }).finally(() => {
      pending = undefined;
    });
    return pending;
  };
}

/** Limits connecting only: how long a response may take is limited elsewhere. */
function limitConnecting(outgoing: ClientRequest, server: string, limitMs: number): void {
  outgoing.once('socket', (socket) => {
    if (!socket.connecting) return;
    const timer = setTimeout(
      () => outgoing.destroy(new ConnectTimeoutError(server, limitMs)),
      limitMs,
    );
    const stop = (): void => clearTimeout(timer);
    socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', stop);
    socket.once('close', stop);
  });
}

function toResponse(incoming: IncomingMessage): TransportResponse {
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, body: incoming };
}
