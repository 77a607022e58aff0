// The listening side: HTTP/2 and HTTP/1.1 over TLS, requests in, answers out, and an orderly end.
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
import { createLinkedQueue, type LinkedQueue } from '../../host/linked-queue.ts';
import { readBeforeParse } from '../../host/read-before-parse.ts';
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
import { toExchange } from './upgrade.ts';

export type ServerOptions = {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly key: string; readonly cert: string; readonly ca: string };
  readonly handle: (request: ApiRequest) => Promise<ApiResponse>;
  readonly log: Log;
  readonly limits?: Limits;
  readonly metrics?: ServerMetrics;
  /** Given the port, descriptors of sockets that listen elsewhere: what connects there is served as well. */
  readonly listenAlso?: (port: number) => readonly number[];
};

export type RunningServer = {
  readonly address: { readonly host: string; readonly port: number };
  /** Takes no new requests, lets those under way finish, ends watches, then closes. */
  readonly drain: () => Promise<void>;
  /** New connections see this certificate; those that are open stay as they are. */
  readonly useCertificate: (tls: ServerOptions['tls']) => void;
};

/** How long requests under way may take to finish at the end. */
const drainMs = 10_000;
/** Streams of one connection at a time; informers open one for each resource. */
const streamsPerConnection = 1000;
/** Of a client that connects and does not say hello. */
const handshakeTimeoutMs = 10_000;
/** A client that was answered that its time is over may still be sending; so much later it is cut off. */
const bodyGraceMs = 15_000;
/** How often connections are looked at for heads and bodies that take too long. */
const checkEveryMs = 5_000;

const oldestTls = 'TLSv1.2';

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { limits = defaultLimits, metrics = createServerMetrics(createMetrics()) } = options;
  const server = createListener(options.tls, limits);
  metrics.followWaiting(paceHandshakes(server).size);
  const { handle, tls } = options;
  const state = createState({ handle, limits, metrics, authority: tls.ca });
  admitConnections(server, limits, state, metrics);
  const open = followConnections(server, limits, metrics);
  answerRequests(server, state, options.log);
  await listen(server, options);
  const { address, port } = server.address() as AddressInfo;
  const doors = await openListeners(server, options.listenAlso?.(port) ?? []);
  return {
    address: { host: address, port },
    async drain() {
      for (const door of doors) door.close();
      await drain(server, state, open);
    },
    useCertificate(replaced) {
      server.setSecureContext({ ...replaced, minVersion: oldestTls });
      state.authority = replaced.ca;
    },
  };
}

function createListener(tls: ServerOptions['tls'], limits: Limits): Http2SecureServer {
  const server = createSecureServer({
    ...tls,
    allowHTTP1: true,
    // Node sets it for HTTP/2 alone: the last piece of an answer would wait for word that the one before it has come.
    noDelay: true,
    requestCert: true,
    // Who has no certificate is anonymous; access control decides what that is worth.
    rejectUnauthorized: false,
    minVersion: oldestTls,
    handshakeTimeout: handshakeTimeoutMs,
    settings: {
      maxConcurrentStreams: streamsPerConnection,
      maxHeaderListSize: limits.maxHeaderBytes,
    },
    // Node refuses new streams on a connection with more than this waiting to be sent. Its own limit is less than the
    // state of one large collection, and all informers of a client share a connection.
    maxSessionMemory: Math.ceil((2 * limits.maxUnreadBytesPerConnection) / (1024 * 1024)),
  });
  Object.assign(server, {
    headersTimeout: limits.headerTimeoutMs,
    requestTimeout: limits.requestTimeoutMs === 0 ? 0 : limits.requestTimeoutMs + bodyGraceMs,
    keepAliveTimeout: limits.idleTimeoutMs,
    maxHeaderSize: limits.maxHeaderBytes,
    connectionsCheckingInterval: checkEveryMs,
    // A new one is let in before another one goes for it (`listen/admit-connections.ts`), and several may come at once.
    ...(limits.maxConnections === 0 ? {} : { maxConnections: 2 * limits.maxConnections }),
  });
  // Node wraps every HTTP/2 stream for those who listen to `request`; without this, that is HTTP/1.1 alone.
  server.removeAllListeners('newListener');
  readBeforeParse(server);
  return server;
}

function answerRequests(server: Http2SecureServer, state: ServerState, log: Log): void {
  const failed = (method: string | undefined, url: string | undefined, error: unknown): void => {
    const { stack = String(error) } = error as Error;
    log.error('cannot answer', { method, url, error: stack });
  };
  const respond = (request: IncomingMessage, response: ServerResponse, tunnels: boolean): void => {
    serveHttp1(state, request, response, tunnels).catch((error: unknown) => {
      failed(request.method, request.url, error);
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end();
    });
  };
  // Its types say HTTP/2, because Node's own listener makes it look so.
  server.on('request', (request: unknown, response: unknown) => {
    const { httpVersionMajor } = request as IncomingMessage;
    if (httpVersionMajor === 1)
      respond(request as IncomingMessage, response as ServerResponse, false);
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
    respond(request, toExchange(request, socket, head), true),
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

/** A server listens on one socket; what comes in by another is handed to it. */
async function openListeners(
  server: Http2SecureServer,
  descriptors: readonly number[],
): Promise<readonly NetServer[]> {
  const doors = descriptors.map((fd) => {
    const door = createNetServer({ noDelay: true }, (socket) => server.emit('connection', socket));
    return door.listen({ fd });
  });
  await Promise.all(doors.map((door) => once(door, 'listening')));
  return doors;
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
    const place = sockets.add(socket);
    metrics.connected(1);
    socket.on('close', () => {
      sockets.remove(place);
      metrics.connected(-1);
    });
  });
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
  });
  server.on('close', closeIdle(sessions, idleTimeoutMs));
  server.on('drop', metrics.refused);
  server.on('sessionError', () => {});
  // Handshakes that fail are the client's business; the socket is closed by Node.
  server.on('tlsClientError', () => {});
  return { sockets, sessions };
}

async function drain(
  server: Http2SecureServer,
  state: ServerState,
  { sockets, sessions }: OpenConnections,
): Promise<void> {
  state.draining = true;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // Told to go elsewhere, clients do not start again here what ends here.
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
