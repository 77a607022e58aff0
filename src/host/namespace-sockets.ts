// Sockets in a namespace other than the thread's, for Node's own servers and connections. The kernel's socket is made inside, in
// one synchronous step, and handed to Node, which works with it from outside.
import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6, Socket } from 'node:net';
import { type DatagramSockets, openDatagramSockets } from './datagram-sockets.ts';
import { insideNamespace } from './namespaces.ts';
import { addressBytes } from './netlink/address-bytes.ts';
import { encodeSocketAddress } from './socket-address.ts';
import { openStreamSockets, type StreamSockets } from './stream-sockets.ts';

/** An IP address, never a name: looking it up would happen somewhere else. */
export type Endpoint = { readonly host: string; readonly port: number };

/** As Node has it. */
const backlog = 511;

/** The descriptor of a listening socket, for `server.listen({ fd })`. Throws SystemCallError. */
export function listenHere(endpoint: Endpoint): number {
  return streamSockets().listen(encode(endpoint), backlog);
}

/** The same in another namespace. */
export function listenInside(namespacePath: string, endpoint: Endpoint): number {
  return insideNamespace(namespacePath, () => listenHere(endpoint));
}

/** A connection that leaves from inside the namespace; it reports as `net.connect` does. */
export function connectInside(namespacePath: string, endpoint: Endpoint): Socket {
  return connectWith(clientDescriptorInside(namespacePath, endpoint), endpoint);
}

/** The descriptor of a socket that is not connected yet, for `connectWith`. */
export function clientDescriptorInside(namespacePath: string, { host }: Endpoint): number {
  return insideNamespace(namespacePath, () => streamSockets().openClient(isIPv6(host)));
}

/** Connects a socket that was made somewhere, from there. `allowHalfOpen` as with `net.connect`. */
export function connectWith(
  fd: number,
  { host, port }: Endpoint,
  { allowHalfOpen = false }: { readonly allowHalfOpen?: boolean } = {},
): Socket {
  // Reading before the connection stands would fail; Node starts it once connected.
  const unconnected = { fd, allowHalfOpen, readable: true, writable: true, manualStart: true };
  return new Socket(unconnected).connect({ host, port });
}

/** A UDP socket of the namespace, bound to the address; port 0 for any. Throws SystemCallError. */
export async function bindInside(
  namespacePath: string,
  endpoint: Endpoint,
): Promise<DatagramSocket> {
  const fd = bindDescriptorInside(namespacePath, endpoint);
  const socket = createSocket(isIPv6(endpoint.host) ? 'udp6' : 'udp4');
  // A socket that is bound already says so at once.
  const listening = once(socket, 'listening');
  socket.bind({ fd });
  await listening;
  return socket;
}

/** The same as a descriptor, for `socket.bind({ fd })`. */
export function bindDescriptorInside(namespacePath: string, endpoint: Endpoint): number {
  return insideNamespace(namespacePath, () => datagramSockets().bind(encode(endpoint)));
}

function encode({ host, port }: Endpoint): Buffer {
  return encodeSocketAddress({ address: addressBytes(host), port });
}

/** The C functions are declared once, when first needed. */
let streams: StreamSockets | undefined;
let datagrams: DatagramSockets | undefined;

function streamSockets(): StreamSockets {
  streams ??= openStreamSockets();
  return streams;
}

function datagramSockets(): DatagramSockets {
  datagrams ??= openDatagramSockets();
  return datagrams;
}
