// The agent's HTTPS server: health, the pods of the node, metrics, logs and streams of containers. Clients authenticate with a
// certificate or a token, and are authorized by the API server.
import { constants } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { type ApiCaller, callApi } from '../client/api-call.ts';
import { isValidAt, readClientCertificate } from '../host/client-certificate.ts';
import { readBeforeParse } from '../host/read-before-parse.ts';
import type { Pod } from '../kinds/pod/types.ts';
import { type ConnectionBounds, limitConnections } from '../observe/limit-connections.ts';
import { findLog, LogError, parseLogOptions } from './logs/log-request.ts';
import { followLog, readLog } from './logs/read-logs.ts';
import { serveLogFiles } from './logs/serve-log-files.ts';
import { logPath } from './pod/run-container.ts';
import type { PodWorker } from './pod/run-pod.ts';
import { refuse, serveStreams } from './streams/serve-streams.ts';
import type { Handshake } from './streams/serve-web-socket.ts';
import { parseStreamRequest, StreamError } from './streams/stream-request.ts';

export type NodeServerTls = {
  readonly key: string;
  readonly cert: string;
  /** PEM of the authority of client certificates; absent: only tokens authenticate. */
  readonly clientAuthority?: string;
};

export type NodeServerOptions = {
  readonly host: string;
  readonly port: number;
  readonly tls: NodeServerTls;
  readonly caller: ApiCaller;
  readonly nodeName: string;
  readonly dataDirectory: string;
  readonly now: () => number;
  readonly metricsText: () => string;
  readonly find: (namespace: string, pod: string) => PodWorker | undefined;
  readonly pods: () => readonly Pod[];
};

export type NodeServer = {
  readonly host: string;
  readonly port: number;
  /** The certificate for new connections. */
  readonly useCertificate: (tls: NodeServerTls) => void;
  readonly close: () => Promise<void>;
};

export async function serveNode(
  options: NodeServerOptions,
  signal: AbortSignal,
): Promise<NodeServer> {
  const { host, port, tls } = options;
  const server = createServer(
    {
      ...contextOf(tls),
      requestCert: true,
      // Clients without a certificate may have a token; otherwise they get a 401.
      rejectUnauthorized: false,
    },
    (request, response) => {
      void handle(options, request, response, signal).catch((error: unknown) => {
        const code = error instanceof LogError ? error.code : 500;
        respond(response, code, error instanceof Error ? error.message : String(error));
      });
    },
  );
  readBeforeParse(server);
  limitConnections(server, agentBounds);
  const upgradedSockets = new Set<Duplex>();
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    upgradedSockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => upgradedSockets.delete(socket));
    void upgrade(options, { request, socket, head }, upgradedSockets.size).catch(
      (error: unknown) => {
        const code = error instanceof StreamError ? error.code : 500;
        refuse(socket, code, error instanceof Error ? error.message : String(error));
      },
    );
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    host,
    port: (server.address() as AddressInfo).port,
    useCertificate: (renewed) => server.setSecureContext(contextOf(renewed)),
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      // The server no longer tracks upgraded sockets.
      for (const socket of upgradedSockets) socket.destroy();
      await closed;
    },
  };
}

/**
 * No session tickets: a resumed session without a client certificate looks verified, and one with a certificate outlives it. Every
 * connection presents its certificate.
 */
function contextOf({ key, cert, clientAuthority: ca }: NodeServerTls) {
  const secureOptions = constants.SSL_OP_NO_TICKET;
  return { key, cert, secureOptions, ...(ca === undefined ? {} : { ca }) };
}

/** Logs, probes and streams of up to 110 pods; nearly all of them come from the API server, which is one address. */
const agentBounds: ConnectionBounds = {
  maxConnections: 4000,
  maxPerAddress: 2500,
  requestTimeoutMs: 30_000,
  idleTimeoutMs: 90_000,
};

/** Each is a process and some buffers. */
const maxUpgradedSockets = 1000;

/** Handles a request to upgrade the connection. */
async function upgrade(
  options: NodeServerOptions,
  handshake: Handshake,
  count: number,
): Promise<void> {
  const { request, socket } = handshake;
  const { url, refusal } = await authorize(options, request);
  if (refusal !== undefined) return refuse(socket, refusal.code, refusal.text);
  if (count > maxUpgradedSockets) return refuse(socket, 429, 'too many open streams');
  const streamRequest = parseStreamRequest(url);
  if (streamRequest === undefined) return refuse(socket, 400, 'this path takes no upgrade');
  await serveStreams(options.find, streamRequest, handshake);
}

type Authorization = {
  readonly url: URL;
  readonly resource: string;
  readonly verb: 'get' | 'create';
  /** Absent: the request is authorized. */
  readonly refusal?: { readonly code: number; readonly text: string };
};

async function authorize(
  options: NodeServerOptions,
  request: IncomingMessage,
): Promise<Authorization> {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const url = parseTarget(request.url);
  if (url === undefined) {
    const refusal = { code: 400, text: 'Bad Request' };
    return { url: invalidTarget, resource: '', verb: isRead ? 'get' : 'create', refusal };
  }
  const [, resource = ''] = url.pathname.split('/');
  // A WebSocket begins with a GET, but does the same as a POST. Stricter than the kubelet, which checks `get` for it.
  const verb = isRead && !streamResources.has(resource) ? 'get' : 'create';
  const authorized = { url, resource, verb } as const;
  const user = await authenticate(options, request);
  if (user === undefined) return { ...authorized, refusal: { code: 401, text: 'Unauthorized' } };
  const part = subresources.get(resource) ?? 'proxy';
  if (await isAuthorized(options, user, verb, part)) return authorized;
  // As in the kubelet: nodes/proxy includes the separate subresources.
  if (separateSubresources.has(part) && (await isAuthorized(options, user, verb, 'proxy')))
    return authorized;
  const what = `(user=${user.username}, verb=${verb}, resource=nodes, subresource(s)=[${part}])`;
  return { ...authorized, refusal: { code: 403, text: `Forbidden ${what}` } };
}

const invalidTarget = new URL('https://node/');

/** Undefined for an invalid path. Two slashes at its start are not a host name. */
function parseTarget(text = ''): URL | undefined {
  if (!text.startsWith('/') || !URL.canParse(`https://node${text}`)) return undefined;
  const url = new URL(`https://node${text}`);
  try {
    decodeURIComponent(url.pathname);
    return url;
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

async function handle(
  options: NodeServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const { url, resource, verb, refusal } = await authorize(options, request);
  if (refusal !== undefined) return respond(response, refusal.code, refusal.text);
  if (streamResources.has(resource)) return respond(response, 400, 'Upgrade request required');
  if (verb !== 'get') return respond(response, 405, 'Method Not Allowed');
  switch (resource) {
    case 'healthz':
      return respond(response, 200, 'ok');
    case 'metrics':
      return respond(response, 200, options.metricsText());
    case 'pods': {
      const items = options.pods();
      response.setHeader('content-type', 'application/json');
      return respond(
        response,
        200,
        JSON.stringify({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items }),
      );
    }
    case 'logs':
      return serveLogFiles(join(options.dataDirectory, 'logs'), url.pathname, response);
    case 'containerLogs':
      return sendLog(options, url, response, signal);
    default:
      return respond(response, 404, '404 page not found');
  }
}

const streamResources = new Set(['exec', 'attach', 'portForward']);

/** The subresource of nodes by the first part of the path, for authorization. */
const subresources: ReadonlyMap<string, string> = new Map([
  ['metrics', 'metrics'],
  ['stats', 'stats'],
  ['logs', 'log'],
  ['healthz', 'healthz'],
  ['pods', 'pods'],
]);

/** Subresources that once belonged to `proxy`; older roles have only that. */
const separateSubresources = new Set(['healthz', 'pods']);

function respond(response: ServerResponse, code: number, text: string): void {
  if (!response.headersSent) {
    const type = response.getHeader('content-type') ?? 'text/plain; charset=utf-8';
    response.writeHead(code, { 'content-type': type });
  }
  response.end(text);
}

type User = { readonly username: string; readonly groups: readonly string[] };

async function authenticate(
  { caller, now }: NodeServerOptions,
  request: IncomingMessage,
): Promise<User | undefined> {
  const certified = certificateUser(request.socket as TLSSocket, now());
  if (certified !== undefined) return certified;
  const [, token] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? [];
  if (token === undefined) return undefined;
  const review = (await callApi(caller, {
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/tokenreviews',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } },
  })) as TokenReviewAnswer;
  const { authenticated, user } = review.status;
  if (authenticated !== true || user === undefined) return undefined;
  return { username: user.username ?? '', groups: user.groups ?? [] };
}

/** Checked on every request: the certificate may have expired since the connection was opened. */
function certificateUser(socket: TLSSocket, now: number): User | undefined {
  // `authorized` is not enough: it is also true for a resumed session without a certificate.
  const presented = socket.authorized ? socket.getPeerX509Certificate() : undefined;
  const certificate = presented === undefined ? 'none' : readClientCertificate(presented);
  if (typeof certificate === 'string' || !isValidAt(certificate, now)) return undefined;
  const { commonName: username, organizations } = certificate;
  return { username, groups: [...organizations, 'system:authenticated'] };
}

type TokenReviewAnswer = {
  readonly status: {
    readonly authenticated?: boolean;
    readonly user?: { readonly username?: string; readonly groups?: readonly string[] };
  };
};

async function isAuthorized(
  { caller, nodeName }: NodeServerOptions,
  { username, groups }: User,
  verb: string,
  subresource: string,
): Promise<boolean> {
  const review = (await callApi(caller, {
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: {
        user: username,
        groups,
        resourceAttributes: { verb, version: 'v1', resource: 'nodes', subresource, name: nodeName },
      },
    },
  })) as { readonly status: { readonly allowed?: boolean } };
  return review.status.allowed === true;
}

async function sendLog(
  { find, dataDirectory, now }: NodeServerOptions,
  url: URL,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const [, , namespace = '', name = '', container = ''] = url.pathname
    .split('/')
    .map(decodeURIComponent);
  const worker = find(namespace, name);
  if (worker === undefined) throw new LogError(404, `pod "${name}" does not exist`);
  const options = parseLogOptions(url.searchParams, now());
  const pod = worker.pod();
  const attempt = findLog({
    pod,
    records: worker.containers.records(),
    container,
    isPrevious: options.isPrevious,
  });
  const path = logPath(dataDirectory, pod, container, attempt);
  response.writeHead(200, { 'content-type': 'text/plain' });
  const running = options.isPrevious ? undefined : worker.containers.running(container);
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  const until = AbortSignal.any([signal, closed.signal]);
  const text = options.isFollowed
    ? followLog(path, options, { running, signal: until })
    : readLog(path, options);
  // Sends the headers even while there is no output yet.
  response.flushHeaders();
  for await (const line of text) {
    if (!response.write(line) && !closed.signal.aborted) {
      await once(response, 'drain', { signal: until }).catch((error: unknown) => {
        // The client has closed the connection, or the agent shuts down.
        if (!until.aborted) throw error;
      });
    }
  }
  response.end();
}
