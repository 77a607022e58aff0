// port-forward: connects a client to ports on the loopback addresses of a pod's network.
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { connectInside } from '../../host/namespace-sockets.ts';
import type { SpdyHeaders } from './read-spdy-headers.ts';
import { serveSpdySession } from './serve-spdy-session.ts';
import { openChannels } from './serve-web-socket.ts';
import type { CommandProtocol } from './stream-protocols.ts';
import { parsePort } from './stream-request.ts';

export type ForwardedPod = {
  readonly name: string;
  readonly uid: string;
  /** Absent: the pod uses the node's network. */
  readonly namespacePath?: string;
};

/** How long a stream may wait for the second stream of its pair. */
const pairingMs = 30_000;

/** Two streams per connection, paired by request id. Resolves when the client has disconnected. */
export function serveSpdyForward(socket: Duplex, pod: ForwardedPod): Promise<void> {
  const waiting = new Map<string, { readonly error?: Duplex; readonly data?: Duplex }>();
  const { closed } = serveSpdySession(socket, (stream, headers) => {
    const request = readPairRequest(headers);
    if (request === undefined) {
      stream.destroy();
      return;
    }
    const { id, kind, port } = request;
    const pair = { ...waiting.get(id), [kind]: stream };
    if (pair.error !== undefined && pair.data !== undefined) {
      waiting.delete(id);
      void forwardPort(pod, port, { error: pair.error, data: pair.data });
      return;
    }
    waiting.set(id, pair);
    const timer = setTimeout(() => stream.destroy(), pairingMs).unref();
    stream.once('close', () => {
      clearTimeout(timer);
      if (Object.values(waiting.get(id) ?? {}).includes(stream)) waiting.delete(id);
    });
  });
  return closed;
}

type PairRequest = { readonly id: string; readonly kind: 'error' | 'data'; readonly port: number };

/** Undefined for any other stream. */
function readPairRequest(headers: SpdyHeaders): PairRequest | undefined {
  const kind = headers.get('streamtype');
  if (kind !== 'error' && kind !== 'data') return undefined;
  try {
    const port = parsePort(headers.get('port') ?? '');
    // Clients older than Kubernetes 1.1 send no request id and use one connection per port.
    return { id: headers.get('requestid') ?? `port ${port}`, kind, port };
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}

/** Two channels per port, each beginning with the port number. Resolves when the client has disconnected. */
export async function serveChannelForward(
  webSocket: WebSocket,
  protocol: CommandProtocol,
  { pod, ports }: { readonly pod: ForwardedPod; readonly ports: readonly number[] },
): Promise<void> {
  const channels = openChannels(webSocket, protocol);
  const forwards = ports.map((port, index) => {
    const [data, error] = [channels.open(2 * index), channels.open(2 * index + 1)];
    const number = Buffer.alloc(2);
    number.writeUInt16LE(port);
    for (const channel of [data, error]) channel.write(number);
    return forwardPort(pod, port, { data, error });
  });
  await Promise.race([channels.closed, Promise.all(forwards)]);
  channels.close();
  await channels.closed;
}

type Pair = { readonly data: Duplex; readonly error: Duplex };

/** Resolves when the connection is closed. Errors are sent on the error stream. */
async function forwardPort(pod: ForwardedPod, port: number, { data, error }: Pair): Promise<void> {
  // The client sends nothing on the error stream.
  error.resume();
  try {
    const socket = await dialPod(pod, port);
    if (data.destroyed) socket.destroy();
    else await join(data, socket);
  } catch (problem) {
    const why = problem instanceof Error ? problem.message : String(problem);
    error.write(`error forwarding port ${port} to pod ${pod.name}, uid ${pod.uid}: ${why}`);
  } finally {
    await Promise.all([ended(error), ended(data)]);
  }
}

const ended = (stream: Duplex): Promise<void> =>
  new Promise((resolve) => {
    if (stream.destroyed) resolve();
    else stream.once('close', resolve).end(resolve);
  });

/** Tries 127.0.0.1, then ::1, as container runtimes do. */
async function dialPod({ namespacePath, name }: ForwardedPod, port: number): Promise<Socket> {
  const problems: string[] = [];
  for (const [family, host] of [
    ['tcp4', '127.0.0.1'],
    ['tcp6', '::1'],
  ] as const) {
    try {
      return await opened(
        namespacePath === undefined
          ? connect({ host, port, allowHalfOpen: true, noDelay: true })
          : connectInside(namespacePath, { host, port }),
      );
    } catch (problem) {
      const shown = host.includes(':') ? `[${host}]` : host;
      problems.push(`dial ${family} ${shown}:${port}: connect: ${reason(problem)}`);
    }
  }
  const [first = '', second = ''] = problems;
  throw new Error(
    `failed to connect to localhost:${port} inside namespace of pod "${name}", IPv4: ${first} IPv6 ${second}`,
  );
}

function opened(socket: Socket): Promise<Socket> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  EADDRNOTAVAIL: 'cannot assign requested address',
  ENETUNREACH: 'network is unreachable',
  EAFNOSUPPORT: 'address family not supported by protocol',
};

function reason(problem: unknown): string {
  const { code = '', message = String(problem) } = problem as NodeJS.ErrnoException;
  return reasons[code] ?? message;
}

/** Each direction ends independently; an error closes both. */
function join(data: Duplex, socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    data.pipe(socket).pipe(data);
    data.once('close', () => {
      if (!data.readableEnded) socket.destroy();
    });
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      if (!socket.readableEnded) data.destroy();
      resolve();
    });
  });
}
