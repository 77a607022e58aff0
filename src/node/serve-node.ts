// The agent's own HTTPS server: health, the pods of the node, metrics, logs and streams of containers. Who asks must show a client
// certificate or a token, and must be allowed to use the node in that way; the API server says whether.
import { constants } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { type ApiCaller, callApi } from '../client/api-call.ts';
import { holdsAt, readClientCertificate } from '../host/client-certificate.ts';
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
  /** Who signs clients; absent: only tokens count. */
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
  /** New connections see this certificate; those that are open stay as they are. */
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
      // Tokens are as good as certificates: who has neither is turned away with words.
      rejectUnauthorized: false,
    },
    (request, response) => {
      void answer(options, request, response, signal).catch((error: unknown) => {
        const code = error instanceof LogError ? error.code : 500;
        end(response, code, error instanceof Error ? error.message : String(error));
      });
    },
  );
  readBeforeParse(server);
  limitConnections(server, agentBounds);
  const upgraded = new Set<Duplex>();
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    upgraded.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => upgraded.delete(socket));
    void upgrade(options, { request, socket, head }, upgraded.size).catch((error: unknown) => {
      const code = error instanceof StreamError ? error.code : 500;
      refuse(socket, code, error instanceof Error ? error.message : String(error));
    });
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
      // Those are the server's no more.
      for (const socket of upgraded) socket.destroy();
      await closed;
    },
  };
}

/**
 * No session tickets: a resumed session without a client certificate looks verified, and one with a certificate outlives it. Who
 * connects again shows the certificate again.
 */
function contextOf({ key, cert, clientAuthority: ca }: NodeServerTls) {
  const secureOptions = constants.SSL_OP_NO_TICKET;
  return { key, cert, secureOptions, ...(ca === undefined ? {} : { ca }) };
}

/** Logs, probes and streams of up to 110 pods; nearly all of them are the API server's, which is one address. */
const agentBounds: ConnectionBounds = {
  maxConnections: 4000,
  maxPerAddress: 2500,
  requestTimeoutMs: 30_000,
  idleTimeoutMs: 90_000,
};

/** Each is a process and some buffers. */
const maxUpgraded = 1000;

/** A connection that wants to go on as something else. */
async function upgrade(
  options: NodeServerOptions,
  handshake: Handshake,
  count: number,
): Promise<void> {
  const { request, socket } = handshake;
  const { url, refusal } = await admit(options, request);
  if (refusal !== undefined) return refuse(socket, refusal.code, refusal.text);
  if (count > maxUpgraded) return refuse(socket, 429, 'too many open streams');
  const wish = parseStreamRequest(url);
  if (wish === undefined) return refuse(socket, 400, 'this path takes no upgrade');
  await serveStreams(options.find, wish, handshake);
}

type Admission = {
  readonly url: URL;
  readonly first: string;
  readonly verb: 'get' | 'create';
  /** Absent when the request may go on. */
  readonly refusal?: { readonly code: number; readonly text: string };
};

async function admit(options: NodeServerOptions, request: IncomingMessage): Promise<Admission> {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const url = parseTarget(request.url);
  if (url === undefined) {
    const refusal = { code: 400, text: 'Bad Request' };
    return { url: noTarget, first: '', verb: isRead ? 'get' : 'create', refusal };
  }
  const [, first = ''] = url.pathname.split('/');
  // A WebSocket begins with a GET; what it does is the same as a POST does. A kubelet takes `get` for it.
  const verb = isRead && !streamed.has(first) ? 'get' : 'create';
  const asked = { url, first, verb } as const;
  const user = await whoAsks(options, request);
  if (user === undefined) return { ...asked, refusal: { code: 401, text: 'Unauthorized' } };
  const part = parts.get(first) ?? 'proxy';
  if (await mayUse(options, user, verb, part)) return asked;
  // As a kubelet does it: who may use all of a node may use each part.
  if (ownParts.has(part) && (await mayUse(options, user, verb, 'proxy'))) return asked;
  const what = `(user=${user.username}, verb=${verb}, resource=nodes, subresource(s)=[${part}])`;
  return { ...asked, refusal: { code: 403, text: `Forbidden ${what}` } };
}

const noTarget = new URL('https://node/');

/** Undefined where it is no path, or one that nobody can decode. Two slashes at its start are not the name of a server. */
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

async function answer(
  options: NodeServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const { url, first, verb, refusal } = await admit(options, request);
  if (refusal !== undefined) return end(response, refusal.code, refusal.text);
  if (streamed.has(first)) return end(response, 400, 'Upgrade request required');
  if (verb !== 'get') return end(response, 405, 'Method Not Allowed');
  switch (first) {
    case 'healthz':
      return end(response, 200, 'ok');
    case 'metrics':
      return end(response, 200, options.metricsText());
    case 'pods': {
      const items = options.pods();
      response.setHeader('content-type', 'application/json');
      return end(
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
      return end(response, 404, '404 page not found');
  }
}

const streamed = new Set(['exec', 'attach', 'portForward']);

/** Which part of a node a path belongs to, as rules for nodes name them. */
const parts: ReadonlyMap<string, string> = new Map([
  ['metrics', 'metrics'],
  ['stats', 'stats'],
  ['logs', 'log'],
  ['healthz', 'healthz'],
  ['pods', 'pods'],
]);

/** Parts that once belonged to `proxy`; roles of before name only that. */
const ownParts = new Set(['healthz', 'pods']);

function end(response: ServerResponse, code: number, text: string): void {
  if (!response.headersSent) {
    const type = response.getHeader('content-type') ?? 'text/plain; charset=utf-8';
    response.writeHead(code, { 'content-type': type });
  }
  response.end(text);
}

type Asker = { readonly username: string; readonly groups: readonly string[] };

async function whoAsks(
  { caller, now }: NodeServerOptions,
  request: IncomingMessage,
): Promise<Asker | undefined> {
  const certified = certifiedAsker(request.socket as TLSSocket, now());
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

/** Asked on every request: the certificate may have ended since the connection was opened. */
function certifiedAsker(socket: TLSSocket, now: number): Asker | undefined {
  // `authorized` alone says nothing: it also holds for a resumed session that never had a certificate.
  const presented = socket.authorized ? socket.getPeerX509Certificate() : undefined;
  const certificate = presented === undefined ? 'none' : readClientCertificate(presented);
  if (typeof certificate === 'string' || !holdsAt(certificate, now)) return undefined;
  const { commonName: username, organizations } = certificate;
  return { username, groups: [...organizations, 'system:authenticated'] };
}

type TokenReviewAnswer = {
  readonly status: {
    readonly authenticated?: boolean;
    readonly user?: { readonly username?: string; readonly groups?: readonly string[] };
  };
};

async function mayUse(
  { caller, nodeName }: NodeServerOptions,
  { username, groups }: Asker,
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
  const wish = parseLogOptions(url.searchParams, now());
  const pod = worker.pod();
  const attempt = findLog({
    pod,
    records: worker.containers.records(),
    container,
    isPrevious: wish.isPrevious,
  });
  const path = logPath(dataDirectory, pod, container, attempt);
  response.writeHead(200, { 'content-type': 'text/plain' });
  const running = wish.isPrevious ? undefined : worker.containers.running(container);
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  const until = AbortSignal.any([signal, closed.signal]);
  const text = wish.isFollowed
    ? followLog(path, wish, { running, signal: until })
    : readLog(path, wish);
  // The client sees that the answer has begun, even while there is nothing to say.
  response.flushHeaders();
  for await (const line of text) {
    if (!response.write(line) && !closed.signal.aborted) {
      await once(response, 'drain', { signal: until }).catch(() => undefined);
    }
  }
  response.end();
}
