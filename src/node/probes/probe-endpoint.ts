// Asks a container how it is: over HTTP, TCP, gRPC, or by a program inside it. Answers in a kubelet's words.
import { once } from 'node:events';
import { type IncomingMessage, request as openHttp } from 'node:http';
import { connect as connectHttp2, constants } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { endLater } from '../../host/end-later.ts';
import type { RunningContainer } from '../runtimes/runtime.ts';
import { type HttpTarget, hostPort, targetUrl } from './probe-target.ts';

export type ProbeOutcome = { readonly outcome: 'success' | 'failure'; readonly output: string };

/** Opens a connection from where the node is. */
export type Dial = (host: string, port: number) => Duplex;

export const dialHost: Dial = (host, port) => connectTcp({ host, port });

/** As much of an answer as an event can show. */
const maxBodyBytes = 10 * 1024;
const maxCommandBytes = 10 * 1024;

/** Succeeds from 200 up to 399. */
export async function probeHttp(
  target: HttpTarget,
  dial: Dial,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const { status, body } = await getHttp(target, dial, signal);
  if (status >= 200 && status < 400) return { outcome: 'success', output: body };
  return { outcome: 'failure', output: `HTTP probe failed with statuscode: ${status}` };
}

export function getHttp(
  target: HttpTarget,
  dial: Dial,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly body: string }> {
  const { scheme, host, port, path, headers } = target;
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void =>
      reject(new Error(`Get "${targetUrl(target)}": ${dialProblem(error, signal, host, port)}`));
    const outgoing = openHttp({
      host,
      port,
      path,
      headers: { host: hostPort(host, port), connection: 'close', ...headers },
      signal,
      createConnection: () => {
        const socket = dial(host, port);
        // A container's certificate is its own business, as it is to a kubelet.
        return scheme === 'http' ? socket : connectTls({ socket, rejectUnauthorized: false });
      },
    });
    outgoing.once('error', fail);
    outgoing.once('response', (response) => {
      readStart(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), fail);
    });
    outgoing.end();
  });
}

async function readStart(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= maxBodyBytes) break;
  }
  return Buffer.concat(chunks).toString('utf8', 0, maxBodyBytes);
}

export async function probeTcp(
  host: string,
  port: number,
  dial: Dial,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const socket = dial(host, port);
  try {
    await once(socket, 'connect', { signal });
    return { outcome: 'success', output: '' };
  } catch (error) {
    return { outcome: 'failure', output: dialProblem(error as Error, signal, host, port) };
  } finally {
    socket.on('error', () => {}).destroy();
  }
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
};

function dialProblem(error: Error, signal: AbortSignal, host: string, port: number): string {
  if (signal.aborted) {
    return 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)';
  }
  const { code = '' } = error as NodeJS.ErrnoException;
  const reason = reasons[code];
  if (reason !== undefined) return `dial tcp ${hostPort(host, port)}: ${reason}`;
  return code === 'ECONNRESET' ? 'EOF' : error.message;
}

export async function probeCommand(
  container: RunningContainer,
  argv: readonly string[],
  { signal, timeoutSeconds }: { readonly signal: AbortSignal; readonly timeoutSeconds: number },
): Promise<ProbeOutcome> {
  const { exitCode, output } = await runInside(container, argv, signal);
  if (signal.aborted) {
    const words = argv.join(' ');
    return {
      outcome: 'failure',
      output: `command timed out: ${JSON.stringify(words)} timed out after ${timeoutSeconds}s`,
    };
  }
  return { outcome: exitCode === 0 ? 'success' : 'failure', output };
}

export async function runInside(
  container: RunningContainer,
  [program = '', ...args]: readonly string[],
  signal: AbortSignal,
): Promise<{ readonly exitCode: number; readonly output: string }> {
  const entered = await container.enter([program, ...args]);
  entered.input.end();
  const chunks: Buffer[] = [];
  let size = 0;
  for (const stream of [entered.output, entered.errors]) {
    stream?.on('data', (chunk: Buffer) => {
      if (size < maxCommandBytes) chunks.push(chunk);
      size += chunk.length;
    });
  }
  const { kill } = entered;
  signal.addEventListener('abort', kill, { once: true });
  if (signal.aborted) kill();
  try {
    const { exitCode } = await entered.ended;
    const output = Buffer.concat(chunks).toString('utf8', 0, maxCommandBytes);
    return { exitCode, output };
  } finally {
    signal.removeEventListener('abort', kill);
  }
}

export type GrpcTarget = { readonly host: string; readonly port: number; readonly service: string };

/** grpc.health.v1: the answer's one field is 1 for SERVING. */
const servingNames = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];

export async function probeGrpc(
  { host, port, service }: GrpcTarget,
  dial: Dial,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const where = `"${hostPort(host, port)}"`;
  const session = connectHttp2(`http://${hostPort(host, port)}`, {
    createConnection: () => dial(host, port) as Socket,
  });
  try {
    const { status, message } = await checkHealth(session, service, signal);
    if (status !== 0) {
      const code = grpcCodes[status] ?? `Code(${status})`;
      return { outcome: 'failure', output: `service unhealthy: rpc error: code = ${code}` };
    }
    const serving = servingNames[message] ?? 'UNKNOWN';
    if (serving === 'SERVING') return { outcome: 'success', output: 'service healthy' };
    return { outcome: 'failure', output: `service unhealthy (responded with "${serving}")` };
  } catch (error) {
    const why = dialProblem(error as Error, signal, host, port);
    return { outcome: 'failure', output: `error: failed to connect service ${where}: ${why}` };
  } finally {
    endLater(session);
  }
}

const grpcCodes: Readonly<Record<number, string>> = {
  5: 'NotFound',
  12: 'Unimplemented',
  14: 'Unavailable',
};

type Health = { readonly status: number; readonly message: number };

function checkHealth(
  session: ReturnType<typeof connectHttp2>,
  service: string,
  signal: AbortSignal,
): Promise<Health> {
  return new Promise((resolve, reject) => {
    session.once('error', reject);
    const stream = session.request(
      {
        [constants.HTTP2_HEADER_METHOD]: 'POST',
        [constants.HTTP2_HEADER_PATH]: '/grpc.health.v1.Health/Check',
        'content-type': 'application/grpc',
        te: 'trailers',
      },
      { signal },
    );
    const chunks: Buffer[] = [];
    let status = 0;
    const readStatus = (headers: Readonly<Record<string, unknown>>): void => {
      if (headers['grpc-status'] !== undefined) status = Number(headers['grpc-status']);
    };
    stream.on('response', readStatus).on('trailers', readStatus);
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.once('error', reject);
    stream.once('end', () => resolve({ status, message: servingStatus(Buffer.concat(chunks)) }));
    stream.end(healthRequest(service));
  });
}

/** One message: a byte for "not compressed", four for its length, then field 1 as text. */
function healthRequest(service: string): Buffer {
  const name = Buffer.from(service);
  const body = name.length === 0 ? name : Buffer.concat([Buffer.from([0x0a, name.length]), name]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

const servingStatus = (message: Buffer): number => (message[5] === 0x08 ? (message[6] ?? 0) : 0);
