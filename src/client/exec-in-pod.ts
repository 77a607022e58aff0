// Runs a program in a container of a pod through the API, over WebSocket, as `kubectl exec` does. Its output is bounded.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { type RawData, WebSocket } from 'ws';
import { chooseProxy } from '../host/choose-proxy.ts';
import { isJsonObject } from '../schema/json-object.ts';
import { toApiError } from './api-call.ts';
import { endpointOf, headersOf, pathOf, type TransportLimits } from './exchange.ts';
import { openPlainSocket, openTlsSocket } from './open-socket.ts';
import type { Connection } from './read-kubeconfig.ts';
import { runExecPlugin, systemPluginWorld } from './run-exec-plugin.ts';

export type ExecRequest = {
  readonly namespace: string;
  readonly pod: string;
  readonly container?: string;
  readonly command: readonly string[];
  /** Of all of it. */
  readonly timeoutMs: number;
};

export type ExecResult = {
  readonly stdout: string;
  readonly stderr: string;
  /** Absent: it ended well. Kubernetes' words for how else. */
  readonly failure?: string;
};

/** The newest first; servers choose the first that they have. */
const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];
const channels = { stdout: 1, stderr: 2, status: 3 } as const;
const maxOutputBytes = 256 * 1024;
const maxRefusalBytes = 64 * 1024;
const limits: TransportLimits = {
  ...{ connectMs: 10_000, silenceMs: 60_000, readIdleMs: 60_000 },
  ...{ pingTimeoutMs: 15_000, idleTimeoutMs: 60_000 },
};

/** Rejects with an ApiError when the server refuses it. */
export async function execInPod(
  connection: Connection,
  request: ExecRequest,
  signal: AbortSignal,
): Promise<ExecResult> {
  const used = await withCredentials(connection, signal);
  const socket = await openSocket(used);
  const { namespace, pod, container, command, timeoutMs } = request;
  const query = new URLSearchParams({ stdout: 'true', stderr: 'true' });
  if (container !== undefined) query.set('container', container);
  for (const word of command) query.append('command', word);
  const path = pathOf(used, {
    method: 'GET',
    path: `/api/v1/namespaces/${namespace}/pods/${pod}/exec?${query}`,
  });
  // The socket is a connection already, encrypted if it must be.
  const webSocket = new WebSocket(`ws://${new URL(used.server).host}${path}`, protocols, {
    createConnection: () => socket,
    headers: headersOf({ method: 'GET', path: '' }, used) as Record<string, string>,
    maxPayload: maxOutputBytes,
  });
  return collect(webSocket, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
}

async function withCredentials(connection: Connection, signal: AbortSignal): Promise<Connection> {
  const { exec, token, basicAuth } = connection;
  if (exec === undefined || token !== undefined || basicAuth !== undefined) return connection;
  const { expiresAt: _, ...identity } = await runExecPlugin(
    exec,
    connection,
    systemPluginWorld(),
    signal,
  );
  return { ...connection, ...identity };
}

async function openSocket(connection: Connection): Promise<Duplex> {
  if (endpointOf(connection).protocol === 'https:') {
    return openTlsSocket({ connection, limits }, ['http/1.1']);
  }
  const proxy = chooseProxy(connection);
  if (proxy !== undefined) return openPlainSocket({ connection, limits }, proxy);
  const { host, port } = endpointOf(connection);
  const socket = connect({ host, port });
  await once(socket, 'connect', { signal: AbortSignal.timeout(limits.connectMs) });
  return socket;
}

function collect(webSocket: WebSocket, signal: AbortSignal): Promise<ExecResult> {
  return new Promise((resolve, reject) => {
    const output = { stdout: '', stderr: '' };
    let failure: string | undefined;
    let bytes = 0;
    const stop = (error: unknown): void => {
      reject(error instanceof Error ? error : new Error(String(error)));
      webSocket.terminate();
    };
    const abort = (): void => stop(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    webSocket.on(
      'unexpected-response',
      (_request, response) => void readRefusal(response).then(stop),
    );
    webSocket.on('error', stop);
    webSocket.on('message', (data: RawData) => {
      const message = Buffer.isBuffer(data) ? data : Buffer.concat([data].flat() as Buffer[]);
      bytes += message.length;
      if (bytes > maxOutputBytes) return stop('it writes too much');
      const text = message.subarray(1).toString('utf8');
      if (message[0] === channels.stdout) output.stdout += text;
      if (message[0] === channels.stderr) output.stderr += text;
      if (message[0] === channels.status) failure = failureOf(text);
    });
    webSocket.on('close', () => {
      signal.removeEventListener('abort', abort);
      resolve({ ...output, ...(failure === undefined ? {} : { failure }) });
    });
  });
}

async function readRefusal(response: IncomingMessage): Promise<Error> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > maxRefusalBytes) break;
    parts.push(part);
  }
  return toApiError(response.statusCode ?? 0, Buffer.concat(parts).toString('utf8'));
}

/** The last message is a Status. */
function failureOf(text: string): string | undefined {
  try {
    const status: unknown = JSON.parse(text);
    if (!isJsonObject(status) || status.status === 'Success') return undefined;
    return typeof status.message === 'string' ? status.message : 'it failed';
  } catch (error) {
    // Old servers send text.
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}
