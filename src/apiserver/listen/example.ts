// A listener over real TLS on loopback, and clients of both versions of HTTP.
import { once } from 'node:events';
import { type ClientHttp2Session, connect } from 'node:http2';
import { Agent, request as httpsRequest } from 'node:https';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { endLater } from '../../host/end-later.ts';
import { isApiError } from '../../meta/api-error.ts';
import { type Log, silentLog } from '../../observe/log.ts';
import {
  issueClientCertificate,
  issueServerCertificate,
  makeAuthority,
} from '../certificates/authority.ts';
import { defaultLimits, type Limits } from '../limits/limits.ts';
import type { ApiRequest, ApiResponse, Sink } from '../message.ts';
import type { ServerMetrics } from '../metrics.ts';
import { type RunningServer, startServer } from './server.ts';

const now = Date.now();
export const authority = makeAuthority(now);
const { certificate: cert, privateKey: key } = issueServerCertificate(authority, {
  names: ['localhost', '127.0.0.1'],
  now,
});
const subject = { commonName: 'jane', organizations: ['one', 'two'], days: 1, now };
export const jane = issueClientCertificate(authority, subject);
export const foreignClient = issueClientCertificate(makeAuthority(now), subject);

type Handle = (request: ApiRequest) => Promise<ApiResponse>;

export type StartOptions = {
  readonly log?: Log;
  readonly limits?: Partial<Limits>;
  readonly metrics?: ServerMetrics;
};

export const tls = { key, cert, ca: authority.certificate };

export function start(handle: Handle, options: StartOptions = {}): Promise<RunningServer> {
  const { log = silentLog, metrics } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const measured = metrics === undefined ? {} : { metrics };
  return startServer({ host: '127.0.0.1', port: 0, tls, handle, log, limits, ...measured });
}

export type TestRequest = {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: Buffer;
};
export type TestResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
};
export type Client = {
  readonly send: (request: TestRequest) => Promise<TestResponse>;
  /** The stream of an answer, its head received. */
  readonly open: (request: TestRequest) => Promise<NodeJS.ReadableStream & { destroy(): void }>;
  readonly close: () => void;
};
export type Identity = { readonly certificate: string; readonly privateKey: string };

export async function readText(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

const identify = (identity: Identity | undefined) =>
  identity === undefined ? {} : { cert: identity.certificate, key: identity.privateKey };

export function connectHttp1({ address }: RunningServer, identity?: Identity): Client {
  const agent = new Agent({ keepAlive: true, ca: authority.certificate, ...identify(identity) });
  const ask = async ({ method = 'GET', path = '/', headers = {}, body }: TestRequest) => {
    const { port } = address;
    const request = httpsRequest({ host: '127.0.0.1', port, method, path, headers, agent });
    // A server may answer and hang up before everything is sent.
    request.end(body);
    const [response] = await once(request, 'response');
    request.on('error', () => {});
    return response as import('node:http').IncomingMessage;
  };
  return {
    async send(request) {
      const response = await ask(request);
      const { statusCode: status = 0, headers } = response;
      return { status, headers, text: await readText(response) };
    },
    open: ask,
    close: () => agent.destroy(),
  };
}

export function connectHttp2({ address }: RunningServer, identity?: Identity): Client {
  const session: ClientHttp2Session = connect(`https://127.0.0.1:${address.port}`, {
    ca: authority.certificate,
    ...identify(identity),
    // So that a test may send and hold back more than Node thinks wise.
    maxSessionMemory: 1024,
  });
  session.on('error', () => {});
  const ask = async ({ method = 'GET', path = '/', headers = {}, body }: TestRequest) => {
    const head = { ':method': method, ':path': path, ...headers };
    const stream = session.request(head, { endStream: body === undefined });
    if (body !== undefined) stream.end(body);
    const [answer] = await once(stream, 'response');
    stream.on('error', () => {});
    return { stream, headers: answer as Record<string, unknown> };
  };
  return {
    async send(request) {
      const { stream, headers } = await ask(request);
      return { status: Number(headers[':status']), headers, text: await readText(stream) };
    },
    open: async (request) => (await ask(request)).stream,
    close: () => endLater(session),
  };
}

export const text = (body: string): ApiResponse => ({
  status: 200,
  headers: { 'content-type': 'text/plain' },
  body,
});

/** Answers with a status where reading throws one, as the handler does. */
export async function readBody(request: ApiRequest): Promise<ApiResponse> {
  try {
    return text(String((await request.body()).length));
  } catch (error) {
    if (!isApiError(error)) throw error;
    return { status: error.status.code, headers: {}, body: error.message };
  }
}

export type Watching = { readonly sink: Sink; readonly request: ApiRequest };

/** A server of streams, each of which the test gets. */
export async function startStreams(options: StartOptions = {}): Promise<{
  readonly server: RunningServer;
  readonly next: () => Promise<Watching>;
}> {
  const started: Watching[] = [];
  const waiting: ((watching: Watching) => void)[] = [];
  const handle: Handle = async (request) => ({
    status: 200,
    headers: {},
    body: {
      start(sink) {
        const take = waiting.shift();
        if (take === undefined) started.push({ sink, request });
        else take({ sink, request });
      },
    },
  });
  const server = await start(handle, options);
  const next = (): Promise<Watching> => {
    const [first] = started.splice(0, 1);
    return first === undefined
      ? new Promise((resolve) => waiting.push(resolve))
      : Promise.resolve(first);
  };
  return { server, next };
}

export type Http = {
  readonly version: string;
  readonly open: typeof connectHttp1;
  /** A client that is closed in the end, and its server with it. */
  readonly connectTo: typeof connectHttp1;
};

/** Both versions, for tests that hold for either. */
export function bothVersions(closing: (() => unknown)[]): readonly Http[] {
  const versions = [
    ['HTTP/1.1', connectHttp1],
    ['HTTP/2', connectHttp2],
  ] as const;
  return versions.map(([version, open]) => ({
    version,
    open,
    connectTo(server, identity) {
      const client = open(server, identity);
      closing.push(client.close, server.drain);
      return client;
    },
  }));
}

export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

/** A connection without a certificate, for requests as bytes. */
export function openSocket(server: RunningServer): Promise<TLSSocket> {
  const { port } = server.address;
  const socket = connectTls({ host: '127.0.0.1', port, ca: authority.certificate });
  socket.on('error', () => {});
  return new Promise((resolve) => socket.once('secureConnect', () => resolve(socket)));
}

/** Everything received until the server closes the connection. */
export async function readAll(socket: TLSSocket): Promise<string> {
  let received = '';
  socket.on('data', (chunk: Buffer) => {
    received += String(chunk);
  });
  await once(socket, 'close');
  return received;
}
