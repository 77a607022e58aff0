// Sockets in another network namespace than the thread's, for Node's own servers and connections. The socket is created inside in one
// synchronous step, and Node then uses its descriptor from outside.
import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6, Socket } from 'node:net';
import { type DatagramSockets, openDatagramSockets } from './datagram-sockets.ts';
import { insideNamespace } from './namespaces.ts';
import { addressBytes } from './netlink/address-bytes.ts';
import { encodeSocketAddress } from './socket-address.ts';
import { openStreamSockets, type StreamSockets } from './stream-sockets.ts';

/** `host` is an IP address, never a name, which would be resolved in the wrong namespace. */
export type Endpoint = { readonly host: string; readonly port: number };

/** Node's default. */
const backlog = 511;

/** The descriptor of a listening socket, for `server.listen({ fd })`. Throws SystemCallError. */
export function listenHere(endpoint: Endpoint): number {
  return streamSockets().listen(encode(endpoint), backlog);
}

/** The same in another namespace. */
export function listenInside(namespacePath: string, endpoint: Endpoint): number {
  return insideNamespace(namespacePath, () => listenHere(endpoint));
}

/** A connection from inside the namespace, with the events of `net.connect`. */
export function connectInside(namespacePath: string, endpoint: Endpoint): Socket {
  return connectWith(clientDescriptorInside(namespacePath, endpoint), endpoint);
}

/** The descriptor of an unconnected socket, for `connectWith`. */
export function clientDescriptorInside(namespacePath: string, { host }: Endpoint): number {
  return insideNamespace(namespacePath, () => streamSockets().openClient(isIPv6(host)));
}

/** Connects a socket, in the namespace in which it was created. `allowHalfOpen` as in `net.connect`. */
export function connectWith(
  fd: number,
  { host, port }: Endpoint,
  { allowHalfOpen = false }: { readonly allowHalfOpen?: boolean } = {},
): Socket {
  // Reading before the connection is established would fail; Node starts it then.
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
  // A descriptor that is already bound emits 'listening' at once.
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

/** The C functions are declared on first use. */
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
