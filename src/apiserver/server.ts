// The listening side: HTTP/2 and HTTP/1.1 over TLS, requests in, answers out, and an orderly end.
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { tooLarge } from '../meta/api-error.ts';
import { type ApiRequest, type ApiResponse, isStream, type Peer, type Sink } from './message.ts';

export type ServerOptions = {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly key: string; readonly cert: string; readonly ca: string };
  readonly handle: (request: ApiRequest) => Promise<ApiResponse>;
};

export type RunningServer = {
  readonly address: { readonly host: string; readonly port: number };
  /** Takes no new requests, lets those under way finish, ends watches, then closes. */
  readonly drain: () => Promise<void>;
};

/** Kubernetes' own limit for a request body. */
const bodyLimit = 3 * 1024 * 1024;
/** A client that does not finish its headers is not a client. */
const headersTimeoutMs = 30_000;
/** Longer than the idle time of common load balancers, so that they close first. */
const keepAliveMs = 90_000;
/** How long requests under way may take to finish at the end. */
const drainMs = 10_000;
/** Streams of one connection at a time; informers open one for each resource. */
const streamsPerConnection = 1000;

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const server = createSecureServer({
    ...options.tls,
    allowHTTP1: true,
    requestCert: true,
    // Who has no certificate is anonymous; access control decides what that is worth.
    rejectUnauthorized: false,
    minVersion: 'TLSv1.2',
    settings: { maxConcurrentStreams: streamsPerConnection },
  });
  Object.assign(server, { headersTimeout: headersTimeoutMs, keepAliveTimeout: keepAliveMs });
  const tracker = createTracker(server);
  server.on('request', (request, response) => {
    void answer(options.handle, request, response, tracker);
  });
  await listen(server, options);
  const { address, port } = server.address() as AddressInfo;
  return { address: { host: address, port }, drain: () => drain(server, tracker) };
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
  server.on('sessionError', () => {});
  // Handshakes that fail are the client's business; the socket is closed by Node.
  server.on('tlsClientError', () => {});
  return { connections, responses: new Set(), streams: new Set(), draining: false };
}

async function drain(server: Http2SecureServer, tracker: Tracker): Promise<void> {
  tracker.draining = true;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const sink of tracker.streams) sink.end();
  const deadline = Date.now() + drainMs;
  while (tracker.responses.size > 0 && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  for (const socket of tracker.connections) socket.destroy();
  await closed;
}

async function answer(
  handle: ServerOptions['handle'],
  request: Http2ServerRequest,
  response: Http2ServerResponse,
  tracker: Tracker,
): Promise<void> {
  tracker.responses.add(response);
  const gone = new AbortController();
  response.on('close', () => {
    tracker.responses.delete(response);
    gone.abort();
  });
  // Both sides may vanish at any time; what was being written is then lost on purpose.
  request.on('error', () => gone.abort());
  response.on('error', () => gone.abort());
  const reply = await handle(toApiRequest(request, gone.signal));
  if (response.destroyed || gone.signal.aborted) return;
  write(reply, request, response, tracker);
}

function toApiRequest(request: Http2ServerRequest, signal: AbortSignal): ApiRequest {
  const [path = '/', query = ''] = split(request.url);
  return {
    method: request.method,
    path,
    query: new URLSearchParams(query),
    headers: headersOf(request),
    body: () => readBody(request),
    peer: peerOf(request),
    signal,
  };
}

/** Node joins repeated headers with commas, which group names may hold: those for impersonation stay apart. */
function headersOf({ headers, rawHeaders }: Http2ServerRequest): ApiRequest['headers'] {
  const own = Object.keys(headers).filter((name) => name.startsWith('impersonate-'));
  if (own.length === 0) return headers as ApiRequest['headers'];
  const values = (name: string): readonly string[] =>
    rawHeaders.filter((_value, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === name);
  return {
    ...(headers as ApiRequest['headers']),
    ...Object.fromEntries(own.map((name) => [name, values(name)])),
  };
}

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
  const { subject } = socket.getPeerCertificate() as {
    subject?: { CN?: string; O?: string | string[] };
  };
  if (subject === undefined) return address;
  if (!socket.authorized) return { ...address, untrustedCertificate: true };
  if (subject.CN === undefined) return address;
  return {
    ...address,
    certificate: { commonName: subject.CN, organizations: [subject.O ?? []].flat() },
  };
}

async function readBody(request: Http2ServerRequest): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > bodyLimit) throw tooLarge(`Request entity too large: limit is ${bodyLimit}`);
    chunks.push(chunk);
  }
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
}

function write(
  { status, headers, body }: ApiResponse,
  request: Http2ServerRequest,
  response: Http2ServerResponse,
  tracker: Tracker,
): void {
  const extra = tracker.draining && request.httpVersionMajor === 1 ? { connection: 'close' } : {};
  if (isStream(body)) {
    response.writeHead(status, { ...headers, ...extra });
    // Without this the headers of a quiet watch would wait for its first event.
    (response as unknown as { flushHeaders?: () => void }).flushHeaders?.();
    const sink = sinkOf(request, response);
    tracker.streams.add(sink);
    sink.onClose(() => tracker.streams.delete(sink));
    body.start(sink);
    return;
  }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  response.writeHead(status, { ...headers, ...extra, 'content-length': bytes.length });
  if (request.method === 'HEAD') response.end();
  else response.end(bytes);
}

function sinkOf(request: Http2ServerRequest, response: Http2ServerResponse): Sink {
  let isOpen = true;
  const listeners: (() => void)[] = [];
  response.on('close', () => {
    isOpen = false;
    for (const listener of listeners) listener();
  });
  const pending = (): number =>
    request.stream?.session === undefined
      ? (response as unknown as { writableLength: number }).writableLength
      : request.stream.writableLength;
  return {
    write: (chunk) => {
      if (isOpen) response.write(chunk);
    },
    buffered: pending,
    end: () => {
      if (isOpen) response.end();
    },
    onClose: (listener) => listeners.push(listener),
  };
}
