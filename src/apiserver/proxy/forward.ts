// Forwards a request to a pod or a node and its response back, with bounded buffers.
import { type ClientRequest, type IncomingMessage, request as openRequest } from 'node:http';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { badRequest, serviceUnavailable } from '../../meta/api-error.ts';
import { type ApiResponse, header, type Sink, type VerbRequest } from '../message.ts';
import { answerPage, isPage } from './answer-page.ts';
import type { Target } from './find-target.ts';
import { joinStreams } from './join-streams.ts';
import { nodeTls } from './node-tls.ts';
import { type Forwarded, requestHeaders, responseHeaders } from './proxy-headers.ts';
import { rewriteLink } from './rewrite-links.ts';

/** Opens a connection to a pod or a node. */
export type Dial = (host: string, port: number) => Socket | Promise<Socket>;

/** Upstream's; the system's default is minutes. */
const dialMs = 30_000;

export const dialPod = (host: string, port: number): Socket => {
  const socket = connectTcp({ host, port });
  socket.setTimeout(dialMs, () =>
    socket.destroy(new Error(`dial tcp ${host}:${port}: i/o timeout`)),
  );
  return socket.once('connect', () => socket.setTimeout(0));
};

export type Forwarding = Forwarded & {
  readonly request: VerbRequest;
  readonly target: Target;
  readonly dial: Dial;
};

/** Buffered for a slow client before the backend is paused. */
const maxBuffered = 256 * 1024;

export async function forward(forwarding: Forwarding): Promise<ApiResponse> {
  const { request } = forwarding;
  const upgrades = isUpgrade(request);
  const body = upgrades ? undefined : await request.body();
  const outgoing = await open(forwarding, upgrades);
  request.signal().addEventListener('abort', () => outgoing.destroy(), { once: true });
  const answered = answerOf(outgoing, upgrades);
  outgoing.end(body);
  const answer = await answered;
  return 'tunnel' in answer ? tunnelled(answer) : answerWith(answer.message, forwarding);
}

/** Whether an upgrade is requested and possible. */
export function isUpgrade(request: VerbRequest): boolean {
  return request.tunnels === true && header(request, 'upgrade') !== undefined;
}

async function open(
  { request, target, dial, prefix, path }: Forwarding,
  upgrades: boolean,
): Promise<ClientRequest> {
  const { scheme, host, port, agent } = target;
  // Pods have self-signed certificates, which upstream does not verify either.
  const tls =
    agent === undefined
      ? { rejectUnauthorized: false }
      : nodeTls(agent.credentials, { node: agent.node, host });
  if (!/^[!-~]*$/.test(path)) throw badRequest('the path holds characters that must be encoded');
  const upgrade = upgrades
    ? { connection: 'Upgrade', upgrade: header(request, 'upgrade') ?? '' }
    : {};
  const headers = { ...requestHeaders(request, { prefix, path }), ...upgrade };
  const socket = await dial(host, port);
  return openRequest({
    method: request.method,
    path,
    host,
    port,
    headers: headers as Record<string, string | string[]>,
    createConnection: () => (scheme === 'http' ? socket : connectTls({ socket, ...tls })),
  });
}

type Answer =
  | { readonly message: IncomingMessage }
  | { readonly tunnel: Socket; readonly head: Buffer; readonly message: IncomingMessage };

/** A backend cannot make a tunnel of a request that asked for none, nor choose a status that this server cannot pass on. */
function answerOf(outgoing: ClientRequest, upgrades: boolean): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string): void => {
      outgoing.destroy();
      reject(serviceUnavailable(`error trying to reach service: ${reason}`));
    };
    outgoing.on('response', (message) => {
      const { statusCode = 0 } = message;
      if (statusCode >= 200 && statusCode <= 599) resolve({ message });
      else fail(`malformed HTTP status code "${statusCode}"`);
    });
    outgoing.on('upgrade', (message, tunnel, head) => {
      if (upgrades) resolve({ message, tunnel, head });
      else {
        tunnel.destroy();
        fail('protocols were switched without a request for it');
      }
    });
    outgoing.on('error', ({ message }) => fail(message));
  });
}

function tunnelled(answer: Extract<Answer, { tunnel: Socket }>): ApiResponse {
  const { tunnel, head, message } = answer;
  const { upgrade = '' } = message.headers;
  return {
    status: 101,
    headers: { ...responseHeaders(message.headers), connection: 'Upgrade', upgrade },
    body: {
      tunnelTo(client) {
        if (head.length > 0) tunnel.unshift(head);
        joinStreams(client, tunnel);
      },
    },
  };
}

function answerWith(
  message: IncomingMessage,
  { request, target, prefix }: Forwarding,
): ApiResponse | Promise<ApiResponse> {
  const status = message.statusCode ?? 502;
  const requestedHost = header(request, 'host') ?? header(request, ':authority') ?? '';
  const proxyLocation = { prefix, hosts: [requestedHost, hostOf(target)] };
  const { 'content-length': length, ...others } = responseHeaders(message.headers);
  // HTTP/2 clients fail on a length without a body.
  const hasLength = length !== undefined && status !== 204;
  const headers = hasLength ? { ...others, 'content-length': length } : others;
  const { location } = message.headers;
  if (location === undefined && request.method !== 'HEAD' && isPage(message)) {
    return answerPage(message, { status, headers }, proxyLocation);
  }
  const moved = location === undefined ? {} : { location: rewriteLink(location, proxyLocation) };
  return {
    status,
    headers: { ...headers, ...moved },
    body: { start: (sink) => pipeBody(message, sink) },
  };
}

function hostOf({ host, port }: Target): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

export function pipeBody(message: IncomingMessage, sink: Sink): void {
  sink.onClose(() => message.destroy());
  message.on('data', (chunk: Buffer) => {
    sink.write(chunk);
    if (sink.onDrain === undefined || sink.buffered() <= maxBuffered) return;
    message.pause();
    sink.onDrain(() => message.resume());
  });
  message.on('end', () => sink.end());
  // A truncated body must not look complete.
  message.on('error', () => (sink.abort ?? sink.end)());
}
