// Upgraded connections: exec, attach and port-forward over WebSocket or SPDY/3.1, as in the kubelet.
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Pod } from '../../kinds/pod/types.ts';
import { allContainers } from '../pod/container-lists.ts';
import type { PodWorker } from '../pod/run-pod.ts';
import type { RunningContainer } from '../runtimes/runtime.ts';
import { serveAttach, serveExec } from './serve-command.ts';
import { type CommandStreams, spdyStreams, webSocketStreams } from './serve-command-streams.ts';
import { type ForwardedPod, serveChannelForward, serveSpdyForward } from './serve-port-forward.ts';
import { acceptWebSocket, acceptWebSocketStream, type Handshake } from './serve-web-socket.ts';
import {
  type CommandProtocol,
  chooseProtocol,
  offeredProtocols,
  portForwardTunnel,
  spdyCommands,
  spdyForward,
  webSocketCommands,
  webSocketForwards,
} from './stream-protocols.ts';
import {
  type CommandRequest,
  type ForwardRequest,
  type PodReference,
  StreamError,
  type StreamRequest,
} from './stream-request.ts';

export type FindPod = (namespace: string, pod: string) => PodWorker | undefined;

/** Resolves when the connection has closed. Throws StreamError before the upgrade. */
export function serveStreams(
  find: FindPod,
  request: StreamRequest,
  handshake: Handshake,
): Promise<void> {
  return request.kind === 'portForward'
    ? serveForward(find, request, handshake)
    : serveCommand(find, request, handshake);
}

async function serveCommand(
  find: FindPod,
  request: CommandRequest,
  handshake: Handshake,
): Promise<void> {
  const worker = findPod(find, request);
  const running = worker.containers.running(request.container);
  // The kubelet's error, also for a container that is not running.
  if (running === undefined)
    throw new StreamError(500, `container not found (${JSON.stringify(request.container)})`);
  const streams = await openStreams(request, handshake);
  if (request.kind === 'exec') return serveExec(running, request, streams);
  return serveAttach(attached(worker.pod(), request.container, running), request, streams);
}

function findPod(find: FindPod, { namespace, pod }: PodReference): PodWorker {
  const worker = find(namespace, pod);
  if (worker === undefined) throw new StreamError(404, 'pod does not exist');
  return worker;
}

function attached(pod: Pod, name: string, running: RunningContainer) {
  const container = allContainers(pod).find((one) => one.name === name);
  return { running, hasInputOnce: container?.stdinOnce === true };
}

async function openStreams(command: CommandRequest, handshake: Handshake): Promise<CommandStreams> {
  const { request, socket } = handshake;
  if (isWebSocket(handshake)) {
    const protocol = requireProtocol(handshake, webSocketCommands);
    return acceptWebSocket(handshake, protocol.name, (webSocket) =>
      webSocketStreams(webSocket, protocol, command),
    );
  }
  requireSpdy(handshake);
  const offered = offeredProtocols(request.headers[spdyProtocols]);
  const protocol = chooseProtocol(offered, spdyCommands);
  if (protocol === undefined) throw cannotNegotiate(offered, spdyCommands);
  acceptSpdy(handshake, protocol.name);
  return spdyStreams(socket, protocol, command);
}

async function serveForward(
  find: FindPod,
  forward: ForwardRequest,
  handshake: Handshake,
): Promise<void> {
  const pod = forwarded(findPod(find, forward));
  const { request, socket } = handshake;
  if (!isWebSocket(handshake)) {
    requireSpdy(handshake);
    const offered = offeredProtocols(request.headers[spdyProtocols]);
    const known = [{ name: spdyForward }];
    if (offered.length > 0 && chooseProtocol(offered, known) === undefined)
      throw cannotNegotiate(offered, known);
    acceptSpdy(handshake, spdyForward);
    return serveSpdyForward(socket, pod);
  }
  if (offeredProtocols(request.headers[webSocketProtocols]).includes(portForwardTunnel)) {
    return serveSpdyForward(await acceptWebSocketStream(handshake, portForwardTunnel), pod);
  }
  const protocol = requireProtocol(handshake, webSocketForwards);
  if (forward.ports.length === 0) throw new StreamError(400, 'query parameter "port" is required');
  return acceptWebSocket(handshake, protocol.name, (webSocket) =>
    serveChannelForward(webSocket, protocol, { pod, ports: forward.ports }),
  );
}

function forwarded(worker: PodWorker): ForwardedPod {
  const { name = '', uid = '' } = worker.pod().metadata;
  const attachment = worker.attachment();
  if (attachment === undefined) throw new StreamError(404, 'pod does not exist');
  const { namespacePath } = attachment;
  return { name, uid, ...(namespacePath === undefined ? {} : { namespacePath }) };
}

const webSocketProtocols = 'sec-websocket-protocol';
const spdyProtocols = 'x-stream-protocol-version';
const spdy = 'SPDY/3.1';

const isWebSocket = ({ request }: Handshake): boolean =>
  request.headers.upgrade?.toLowerCase() === 'websocket';

function requireProtocol(
  { request }: Handshake,
  known: readonly CommandProtocol[],
): CommandProtocol {
  const offered = offeredProtocols(request.headers[webSocketProtocols]);
  const protocol = chooseProtocol(offered, known);
  if (protocol !== undefined) return protocol;
  throw new StreamError(400, `requested protocol(s) are not supported: ${listText(offered)}`);
}

function requireSpdy({ request }: Handshake): void {
  if (request.headers.upgrade?.toLowerCase() === spdy.toLowerCase()) return;
  const { upgrade = '' } = request.headers;
  throw new StreamError(400, `unable to upgrade: unable to upgrade to ${JSON.stringify(upgrade)}`);
}

function cannotNegotiate(
  offered: readonly string[],
  known: readonly { readonly name: string }[],
): StreamError {
  const accepted = listText(known.map(({ name }) => name));
  return new StreamError(
    403,
    `unable to upgrade: unable to negotiate protocol: client supports ${listText(offered)}, server accepts ${accepted}`,
  );
}

const listText = (names: readonly string[]): string => `[${names.join(' ')}]`;

function acceptSpdy({ socket, head }: Handshake, protocol: string): void {
  if (head.length > 0) socket.unshift(head);
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${spdy}\r\nX-Stream-Protocol-Version: ${protocol}\r\n\r\n`,
  );
}

/** Sends an HTTP error on a connection that was not upgraded. */
export function refuse(socket: Duplex, code: number, text: string): void {
  const body = Buffer.from(`${text}\n`);
  const head = [
    `HTTP/1.1 ${code} ${STATUS_CODES[code] ?? ''}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]));
}
