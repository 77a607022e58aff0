// The listening side: HTTP/2 and HTTP/1.1 over TLS, requests in, answers out, and an orderly end.
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { badRequest, tooLarge } from '../meta/api-error.ts';
import type { Log } from '../observe/log.ts';
import {
  type ApiRequest,
  type ApiResponse,
  isStream,
  isTunnel,
  type Peer,
  type Sink,
} from './message.ts';
import { handOver, toExchange } from './upgrade.ts';

export type ServerOptions = {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly key: string; readonly cert: string; readonly ca: string };
  readonly handle: (request: ApiRequest) => Promise<ApiResponse>;
  readonly log: Log;
};

export type RunningServer = {
  readonly address: { readonly host: string; readonly port: number };
  /** Takes no new requests, lets those under way finish, ends watches, then closes. */
  readonly drain: () => Promise<void>;
  /** New connections see this certificate; those that are open stay as they are. */
  readonly useCertificate: (tls: ServerOptions['tls']) => void;
};

/** Kubernetes' own limit for a request body. */
const bodyLimit = 3 * 1024 * 1024;
/** A client that does not finish its headers is not a client. */
const headersTimeoutMs = 30_000;
/** Longer than the idle time of common load balancers, so that they close first. */
const keepAliveMs = 90_000;
/** How long requests under way may take to finish at the end. */
const drainMs = 10_000;
/** How long a reader may take to read what was left when its stream ended. */
const lingerMs = 30_000;
/** Streams of one connection at a time; informers open one for each resource. */
const streamsPerConnection = 1000;
/**
 * Node refuses new streams on a connection with more than this waiting to be sent. Its own limit is less than the
 * state of one large collection, and all informers of a client share a connection; each stream has its own limit.
 */
const connectionMegabytes = 1024;

const oldestTls = 'TLSv1.2';

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const server = createSecureServer({
    ...options.tls,
    allowHTTP1: true,
    requestCert: true,
    // Who has no certificate is anonymous; access control decides what that is worth.
    rejectUnauthorized: false,
    minVersion: oldestTls,
    settings: { maxConcurrentStreams: streamsPerConnection },
    maxSessionMemory: connectionMegabytes,
  });
  Object.assign(server, { headersTimeout: headersTimeoutMs, keepAliveTimeout: keepAliveMs });
  const tracker = createTracker(server);
  const respond = (
    request: Http2ServerRequest,
    response: Http2ServerResponse,
    tunnels: boolean,
  ) => {
    answer(options.handle, { request, response, tunnels }, tracker).catch((error: unknown) => {
      const { stack = String(error) } = error as Error;
      options.log.error('cannot answer', {
        method: request.method,
        url: request.url,
        error: stack,
      });
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end();
    });
  };
  server.on('request', (request, response) => respond(request, response, false));
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const { asked, response } = toExchange(request, socket, head);
    respond(asked, response, true);
  });
  await listen(server, options);
  const { address, port } = server.address() as AddressInfo;
  return {
    address: { host: address, port },
    drain: () => drain(server, tracker),
    useCertificate: (tls) => server.setSecureContext({ ...tls, minVersion: oldestTls }),
  };
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

type Tracker = {
  readonly connections: Set<Socket>;
  readonly sessions: Set<ServerHttp2Session>;
  readonly responses: Set<Http2ServerResponse>;
  readonly streams: Set<Sink>;
  draining: boolean;
};

function createTracker(server: Http2SecureServer): Tracker {
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.on('close', () => connections.delete(socket));
  });
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
  });
  server.on('sessionError', () => {});
  // Handshakes that fail are the client's business; the socket is closed by Node.
  server.on('tlsClientError', () => {});
  return { connections, sessions, responses: new Set(), streams: new Set(), draining: false };
}

async function drain(server: Http2SecureServer, tracker: Tracker): Promise<void> {
  tracker.draining = true;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // Told to go elsewhere, clients do not start again here what ends here.
  for (const session of tracker.sessions) session.close();
  for (const sink of tracker.streams) sink.end();
  const deadline = Date.now() + drainMs;
  while (tracker.responses.size > 0 && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  for (const socket of tracker.connections) socket.destroy();
  await closed;
}

type Exchange = {
  readonly request: Http2ServerRequest;
  readonly response: Http2ServerResponse;
  readonly tunnels: boolean;
};

async function answer(
  handle: ServerOptions['handle'],
  { request, response, tunnels }: Exchange,
  tracker: Tracker,
): Promise<void> {
  tracker.responses.add(response);
  const departure = createDeparture();
  response.on('close', () => {
    tracker.responses.delete(response);
    departure.happens();
  });
  // Both sides may vanish at any time; what was being written is then lost on purpose.
  request.on('error', departure.happens);
  response.on('error', departure.happens);
  const reply = await handle(toApiRequest(request, departure, tunnels));
  if (response.destroyed || departure.happened()) return;
  write(reply, request, response, tracker);
}

/** Of the client. */
type Departure = {
  readonly happens: () => void;
  readonly happened: () => boolean;
  readonly signal: () => AbortSignal;
};

/** The signal is made for those who ask: making and ending one costs more than a get, and every request ends. */
function createDeparture(): Departure {
  let hasHappened = false;
  let controller: AbortController | undefined;
  return {
    happens() {
      hasHappened = true;
      controller?.abort();
    },
    happened: () => hasHappened,
    signal() {
      controller ??= new AbortController();
      if (hasHappened) controller.abort();
      return controller.signal;
    },
  };
}

function toApiRequest(
  request: Http2ServerRequest,
  departure: Departure,
  tunnels: boolean,
): ApiRequest {
  const [path = '/', query = ''] = split(request.url);
  return {
    method: request.method,
    path,
    query: query === '' ? noQuery : new URLSearchParams(query),
    rawQuery: query,
    headers: headersOf(request),
    body: () => readBody(request),
    peer: peerOf(request),
    tunnels,
    get signal() {
      return departure.signal();
    },
  };
}

/** Node joins repeated headers with commas, which group names may hold: those for impersonation stay apart. */
function headersOf({ headers, rawHeaders }: Http2ServerRequest): ApiRequest['headers'] {
  const own: string[] = [];
  for (const name in headers) if (name.startsWith('impersonate-')) own.push(name);
  if (own.length === 0) return headers as ApiRequest['headers'];
  const values = (name: string): readonly string[] =>
    rawHeaders.filter((_value, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === name);
  return {
    ...(headers as ApiRequest['headers']),
    ...Object.fromEntries(own.map((name) => [name, values(name)])),
  };
}

/** Shared by all requests without one; nobody changes a query. */
const noQuery = new URLSearchParams();

function split(url: string): readonly [string, string] {
  const at = url.indexOf('?');
  return at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)];
}

const peers = new WeakMap<object, Peer>();

/** Read once for each connection: taking a certificate apart costs more than most requests. */
function peerOf(request: Http2ServerRequest): Peer {
  const socket = (request.stream?.session?.socket ?? request.socket) as TLSSocket;
  const owner: object = request.stream?.session ?? socket;
  let peer = peers.get(owner);
  if (peer === undefined) {
    peer = readPeer(socket);
    peers.set(owner, peer);
  }
  return peer;
}

function readPeer(socket: TLSSocket): Peer {
  const address = socket.remoteAddress === undefined ? {} : { address: socket.remoteAddress };
  // None at all once the connection has gone.
  const certificate = socket.getPeerCertificate() as {
    subject?: { CN?: string; O?: string | string[] };
  } | null;
  const subject = certificate?.subject;
  if (subject === undefined) return address;
  if (!socket.authorized) return { ...address, untrustedCertificate: true };
  if (subject.CN === undefined) return address;
  return {
    ...address,
    certificate: { commonName: subject.CN, organizations: [subject.O ?? []].flat() },
  };
}

function readBody(request: Http2ServerRequest): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let isWhole = false;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      // The rest is read and dropped: a client that is still sending would not see the answer otherwise.
      if (size <= bodyLimit) chunks.push(chunk);
      else reject(tooLarge(`Request entity too large: limit is ${bodyLimit}`));
    });
    request.on('end', () => {
      isWhole = true;
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    });
    const cutOff = (): void => {
      // Every request closes, and an error costs a stack trace.
      if (!isWhole) reject(badRequest('the body of the request ended before it was whole'));
    };
    request.on('error', cutOff);
    request.on('close', cutOff);
  });
}

function write(
  { status, headers, body }: ApiResponse,
  request: Http2ServerRequest,
  response: Http2ServerResponse,
  tracker: Tracker,
): void {
  const extra = {
    ...(tracker.draining && request.httpVersionMajor === 1 ? { connection: 'close' } : {}),
    ...(headers.warning === undefined ? {} : { warning: [headers.warning].flat().map(asBytes) }),
  };
  // Node takes any header more than once; its types allow only some.
  const head = { ...headers, ...extra } as unknown as OutgoingHttpHeaders;
  if (isTunnel(body)) {
    tracker.responses.delete(response);
    handOver(response as unknown as ServerResponse, { status, head, body });
    return;
  }
  if (isStream(body)) {
    response.writeHead(status, head);
    // Without this the headers of a quiet watch would wait for its first event.
    (response as unknown as { flushHeaders?: () => void }).flushHeaders?.();
    const sink = sinkOf(request, response);
    tracker.streams.add(sink);
    sink.onClose(() => tracker.streams.delete(sink));
    body.start(sink);
    if (tracker.draining) sink.end();
    return;
  }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  response.writeHead(status, { ...head, 'content-length': bytes.length });
  if (request.method === 'HEAD') response.end();
  else response.end(bytes);
}

/** Node writes a header's characters as bytes and refuses those that are none; its text is UTF-8. */
function asBytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

function sinkOf(request: Http2ServerRequest, response: Http2ServerResponse): Sink {
  let isOpen = true;
  const listeners: (() => void)[] = [];
  const closed = (): void => {
    if (!isOpen) return;
    isOpen = false;
    for (const listener of listeners) listener();
  };
  response.on('close', closed);
  // Node keeps a stream that was reset without an error for as long as something is unread, which is for ever.
  request.stream?.on('aborted', () => request.stream.destroy());
  const pending = (): number =>
    request.stream?.session === undefined
      ? (response as unknown as { writableLength: number }).writableLength
      : request.stream.writableLength;
  return {
    write: (chunk) => {
      if (isOpen) response.write(chunk);
    },
    buffered: pending,
    abort: () => response.destroy(),
    onDrain: (listener) => response.once('drain', listener),
    end: () => {
      if (!isOpen) return;
      response.end();
      const timer = setTimeout(() => response.destroy(), lingerMs).unref();
      response.once('close', () => clearTimeout(timer));
      closed();
    },
    onClose: (listener) => {
      if (isOpen) listeners.push(listener);
      else listener();
    },
  };
}
