// The HTTPS server: HTTP/2 and HTTP/1.1, requests in, responses out, and a graceful shutdown.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import {
  type AddressInfo,
  createServer as createNetServer,
  type Server as NetServer,
  type Socket,
} from 'node:net';
import type { Duplex } from 'node:stream';
import { endLater } from '../../host/end-later.ts';
import { keepParsing } from '../../host/keep-parsing.ts';
import { createLinkedQueue, type LinkedQueue } from '../../host/linked-queue.ts';
import type { Log } from '../../observe/log.ts';
import { createMetrics } from '../../observe/metrics.ts';
import { defaultLimits, type Limits } from '../limits/limits.ts';
import type { ApiRequest, ApiResponse } from '../message.ts';
import { createServerMetrics, type ServerMetrics } from '../metrics.ts';
import { admitConnections } from './admit-connections.ts';
import { closeIdle } from './close-idle.ts';
import { paceHandshakes } from './pace-handshakes.ts';
import { serveHttp1 } from './serve-http1.ts';
import { serveHttp2 } from './serve-http2.ts';
import { createState, type ServerState } from './state.ts';
import { createUpgradeResponse } from './upgrade.ts';

export type ServerOptions = {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly key: string; readonly cert: string; readonly ca: string };
  readonly handle: (request: ApiRequest) => Promise<ApiResponse>;
  readonly log: Log;
  readonly limits?: Limits;
  readonly metrics?: ServerMetrics;
  /** For the port, file descriptors of further listening sockets, which are served as well. */
  readonly listenAlso?: (port: number) => readonly number[];
};

export type RunningServer = {
  readonly address: { readonly host: string; readonly port: number };
  /** Accepts no new requests, lets those in flight finish, ends watches, then closes. */
  readonly drain: () => Promise<void>;
  /** For new connections; open ones stay as they are. */
  readonly useCertificate: (tls: ServerOptions['tls']) => void;
};

/** How long requests in flight may take to finish at shutdown. */
const drainMs = 10_000;
/** Concurrent streams of one connection; informers open one for each resource. */
const streamsPerConnection = 1000;
/** For a client that connects and does not send a ClientHello. */
const handshakeTimeoutMs = 10_000;
/** A client whose request timed out may still be sending its body; so much later it is disconnected. */
const bodyGraceMs = 15_000;
/** How often connections are checked for heads and bodies that take too long. */
const checkIntervalMs = 5_000;

const minTlsVersion = 'TLSv1.2';

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { limits = defaultLimits, metrics = createServerMetrics(createMetrics()) } = options;
  const server = createListener(options.tls, limits);
  metrics.followWaiting(paceHandshakes(server).size);
  const { handle, tls } = options;
  const state = createState({ handle, limits, metrics, clientCa: tls.ca });
  admitConnections(server, limits, state, metrics);
  const open = followConnections(server, limits, metrics);
  answerRequests(server, state, options.log);
  await listen(server, options);
  const { address, port } = server.address() as AddressInfo;
  const listeners = await openListeners(server, options.listenAlso?.(port) ?? []);
  return {
    address: { host: address, port },
    async drain() {
      for (const listener of listeners) listener.close();
      await drain(server, state, open);
    },
    useCertificate(replaced) {
      server.setSecureContext({ ...replaced, minVersion: minTlsVersion });
      state.clientCa = replaced.ca;
    },
  };
}

function createListener(tls: ServerOptions['tls'], limits: Limits): Http2SecureServer {
  const server = createSecureServer({
    ...tls,
    allowHTTP1: true,
    // Node.js sets it for HTTP/2 alone: with Nagle's algorithm, the last segment of a response waits for an ACK.
    noDelay: true,
    requestCert: true,
    // Clients without a certificate are anonymous or have a token; authentication decides.
    rejectUnauthorized: false,
    minVersion: minTlsVersion,
    handshakeTimeout: handshakeTimeoutMs,
    settings: {
      maxConcurrentStreams: streamsPerConnection,
      maxHeaderListSize: limits.maxHeaderBytes,
    },
    // Node.js refuses new streams on a connection with more than this waiting to be sent. Its default is less than the
    // list of one large collection, and all informers of a client share a connection.
    maxSessionMemory: Math.ceil((2 * limits.maxUnreadBytesPerConnection) / (1024 * 1024)),
  });
  Object.assign(server, {
    headersTimeout: limits.headerTimeoutMs,
    requestTimeout: limits.requestTimeoutMs === 0 ? 0 : limits.requestTimeoutMs + bodyGraceMs,
    keepAliveTimeout: limits.idleTimeoutMs,
    maxHeaderSize: limits.maxHeaderBytes,
    connectionsCheckingInterval: checkIntervalMs,
    // A new connection is admitted before another one is evicted for it (`admit-connections.ts`), and several may come at once.
    ...(limits.maxConnections === 0 ? {} : { maxConnections: 2 * limits.maxConnections }),
  });
  // Node.js wraps every HTTP/2 stream for listeners of `request`; without this, they get HTTP/1.1 requests only.
  server.removeAllListeners('newListener');
  // What a client sends ahead of its responses is bounded in `serve-http1.ts`.
  keepParsing(server);
  return server;
}

function answerRequests(server: Http2SecureServer, state: ServerState, log: Log): void {
  const failed = (method: string | undefined, url: string | undefined, error: unknown): void => {
    const { stack = String(error) } = error as Error;
    log.error('Failed to respond', { method, url, error: stack });
  };
  const respond = (request: IncomingMessage, response: ServerResponse, tunnels: boolean): void => {
    serveHttp1(state, request, response, tunnels).catch((error: unknown) => {
      failed(request.method, request.url, error);
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end();
    });
  };
  // The types say HTTP/2, which holds only with Node.js' own listener, removed above.
  server.on('request', (request: unknown, response: unknown) => {
    const { httpVersionMajor } = request as IncomingMessage;
    if (httpVersionMajor === 1)
      respond(request as IncomingMessage, response as ServerResponse, false);
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
    respond(request, createUpgradeResponse(request, socket, head), true),
  );
  server.on(
    'stream',
    (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, raw: unknown) => {
      const rawHeaders = raw as readonly string[];
      serveHttp2(state, stream, { headers, rawHeaders }).catch((error: unknown) => {
        failed(headers[':method'], headers[':path'], error);
        if (stream.headersSent) endLater(stream);
        else stream.respond({ ':status': 500 }, { endStream: true });
      });
    },
  );
}

function listen(server: Http2SecureServer, { host, port }: ServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** A Node.js server listens on one socket; connections to others are passed to it. */
async function openListeners(
  server: Http2SecureServer,
  descriptors: readonly number[],
): Promise<readonly NetServer[]> {
  const listeners = descriptors.map((fd) => {
    const listener = createNetServer({ noDelay: true }, (socket) =>
      server.emit('connection', socket),
    );
    return listener.listen({ fd });
  });
  await Promise.all(listeners.map((listener) => once(listener, 'listening')));
  return listeners;
}

type OpenConnections = {
  readonly sockets: LinkedQueue<Socket>;
  readonly sessions: Set<ServerHttp2Session>;
};

function followConnections(
  server: Http2SecureServer,
  { idleTimeoutMs }: Limits,
  metrics: ServerMetrics,
): OpenConnections {
  const sockets = createLinkedQueue<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  server.on('connection', (socket: Socket) => {
    const entry = sockets.add(socket);
    metrics.connected(1);
    socket.on('close', () => {
      sockets.remove(entry);
      metrics.connected(-1);
    });
  });
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
  });
  server.on('close', closeIdle(sessions, idleTimeoutMs));
  server.on('drop', metrics.refused);
  // Protocol errors and failed handshakes are the client's fault; Node.js closes the connection.
  server.on('sessionError', () => {});
  server.on('tlsClientError', () => {});
  return { sockets, sessions };
}

async function drain(
  server: Http2SecureServer,
  state: ServerState,
  { sockets, sessions }: OpenConnections,
): Promise<void> {
  state.isDraining = true;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // GOAWAY first, so that clients do not restart on this connection what ends here.
  for (const session of sessions) session.close();
  for (const sink of state.streams) sink.end();
  const deadline = Date.now() + drainMs;
  while (state.requests > 0 && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  for (const socket of sockets.all()) socket.destroy();
  state.unread.stop();
  await closed;
}
