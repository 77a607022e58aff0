// Probes a container: over HTTP, TCP, gRPC, or by a program inside it. Outputs have the kubelet's wording.
import { once } from 'node:events';
import { type IncomingMessage, request as openHttp } from 'node:http';
import { connect as connectTcp, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { GrpcError, openChannel } from '../../host/grpc/channel.ts';
import { decodeMessage, encodeMessage } from '../../schema/protobuf/message-fields.ts';
import type { RunningContainer } from '../runtimes/runtime.ts';
import { type HttpTarget, hostPort, targetUrl } from './probe-target.ts';
import { redirectTarget } from './redirect-target.ts';

export type ProbeOutcome = {
  /** A warning is a success with something to report. */
  readonly outcome: 'success' | 'warning' | 'failure';
  readonly output: string;
};

/** Opens a connection from the node. */
export type Dial = (host: string, port: number) => Duplex;

export const dialHost: Dial = (host, port) => connectTcp({ host, port });

/** As much of a response as an event can show. */
const maxBodyBytes = 10 * 1024;
const maxCommandBytes = 10 * 1024;

/** Succeeds from 200 up to 399; a redirect to another host is not followed and succeeds with a warning. */
export async function probeHttp(
  target: HttpTarget,
  dial: Dial,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const { status, body } = await getHttp(target, dial, signal);
  if (status >= 200 && status < 300) return { outcome: 'success', output: body };
  if (status >= 300 && status < 400)
    return { outcome: 'warning', output: `Probe terminated redirects, Response body: ${body}` };
  return { outcome: 'failure', output: `HTTP probe failed with statuscode: ${status}` };
}

type HttpAnswer = {
  readonly status: number;
  readonly location: string | undefined;
  readonly body: string;
};

/** Of requests, as in Go's client. */
const maxHttpRequests = 10;

/** Follows redirects within the host. */
export async function getHttp(
  target: HttpTarget,
  dial: Dial,
  signal: AbortSignal,
): Promise<Omit<HttpAnswer, 'location'>> {
  let current = target;
  for (let requests = 1; ; requests += 1) {
    const answer = await getOnce(current, dial, signal);
    const next = withUrl(current, () => redirectTarget(current, answer));
    if (next === undefined) return answer;
    if (requests === maxHttpRequests)
      throw new Error(`Get "${targetUrl(next)}": stopped after ${maxHttpRequests} redirects`);
    current = next;
  }
}

function withUrl<T>(target: HttpTarget, decide: () => T): T {
  try {
    return decide();
  } catch (error) {
    throw new Error(`Get "${targetUrl(target)}": ${(error as Error).message}`, { cause: error });
  }
}

function getOnce(target: HttpTarget, dial: Dial, signal: AbortSignal): Promise<HttpAnswer> {
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
        // Certificates are not verified, as in the kubelet.
        return scheme === 'http' ? socket : connectTls({ socket, rejectUnauthorized: false });
      },
    });
    outgoing.once('error', fail);
    outgoing.once('response', (response) => {
      const { statusCode: status = 0, headers } = response;
      const { location } = headers;
      readStart(response).then((body) => resolve({ status, location, body }), fail);
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
  const channel = openChannel(`http://${hostPort(host, port)}`, {
    createConnection: () => dial(host, port) as Socket,
    // The signal ends the probe, whatever it waits for.
    connectTimeoutMs: Number.POSITIVE_INFINITY,
  });
  const close = (): void => channel.close();
  signal.addEventListener('abort', close, { once: true });
  if (signal.aborted) close();
  try {
    await channel.ready;
    const request = encodeMessage(service === '' ? [] : [[1, service]]);
    const response = await channel.call(healthCheck, request);
    const serving = servingNames[decodeMessage(response).integer(1)] ?? 'UNKNOWN';
    if (serving === 'SERVING') return { outcome: 'success', output: 'service healthy' };
    return { outcome: 'failure', output: `service unhealthy (responded with "${serving}")` };
  } catch (error) {
    return { outcome: 'failure', output: grpcProblem(error, { host, port, signal }) };
  } finally {
    signal.removeEventListener('abort', close);
    close();
  }
}

const healthCheck = '/grpc.health.v1.Health/Check';

function grpcProblem(
  error: unknown,
  { host, port, signal }: { host: string; port: number; signal: AbortSignal },
): string {
  if (error instanceof GrpcError && error.isFromServer) {
    const code = grpcCodes[error.status] ?? `Code(${error.status})`;
    return `service unhealthy: rpc error: code = ${code}`;
  }
  const cause = error instanceof GrpcError ? (error.cause ?? error) : error;
  const why = dialProblem(cause as Error, signal, host, port);
  return `error: failed to connect service "${hostPort(host, port)}": ${why}`;
}

const grpcCodes: Readonly<Record<number, string>> = {
  5: 'NotFound',
  12: 'Unimplemented',
  14: 'Unavailable',
};
