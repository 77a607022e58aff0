// A netlink socket with blocking calls of the C library; callers choose the thread.
import { insideNamespace } from '../namespaces.ts';
import { loadCLibrary, type NativeFunction } from '../native.ts';
import { SystemCallError } from '../system-call-error.ts';

const netlinkProtocol = { route: 0, netfilter: 12, generic: 16 } as const;
export type NetlinkProtocol = keyof typeof netlinkProtocol;

export type SocketOptions = {
  readonly protocol: NetlinkProtocol;
  /** The network namespace to speak to, such as `/run/netns/pod-1` or `/proc/123/ns/net`; otherwise the caller's. */
  readonly namespacePath?: string;
};

export type NetlinkSocket = {
  readonly send: (bytes: Uint8Array) => void;
  /** The next datagram, in a buffer of its own; waits for it. */
  readonly receive: () => Uint8Array;
  /** The next datagram if there is one. */
  readonly receiveNow: () => Uint8Array | undefined;
  readonly close: () => void;
};

const addressFamilyNetlink = 16;
const socketRaw = 3;
const closeOnExec = 0x80000;
const receiveFlag = { dontWait: 0x40, truncate: 0x20 } as const;
const option = {
  socket: {
    level: 1,
    sendBuffer: 7,
    receiveBuffer: 8,
    receiveTimeout: 20,
    forceSendBuffer: 32,
    forceReceiveBuffer: 33,
  },
  netlink: { level: 270, capAcknowledgements: 10, extendedAcknowledgements: 11, strictChecks: 12 },
} as const;

/** The kernel fills at most 32 KiB a datagram on its own account; a single object can take an attribute's 64 KiB. */
const datagramBytes = 256 * 1024;
/** Room for the errors of a batch: each is a datagram that the kernel accounts with about 1 KiB. */
const receiveBufferBytes = 4 * 1024 * 1024;
/** The kernel takes a datagram only if it is smaller than the send buffer by a few bytes. */
const sendBufferSlack = 1024;
/** Answers are queued before the send returns; a wait this long means that none will come. */
const receiveTimeoutSeconds = 30;

export function openSocket(options: SocketOptions): NetlinkSocket {
  const calls = declareCalls();
  const create = (): number =>
    calls.socket(addressFamilyNetlink, socketRaw | closeOnExec, netlinkProtocol[options.protocol]);
  const descriptor =
    options.namespacePath === undefined ? create() : insideNamespace(options.namespacePath, create);
  try {
    return useSocket(descriptor, calls, options.protocol);
  } catch (error) {
    calls.close(descriptor);
    throw error;
  }
}

type Calls = Readonly<
  Record<'socket' | 'bind' | 'sendto' | 'recv' | 'setsockopt' | 'close', NativeFunction>
>;

function declareCalls(): Calls {
  const { checked } = loadCLibrary();
  return {
    socket: checked('int socket(int domain, int type, int protocol)'),
    bind: checked('int bind(int fd, const void *address, uint32_t length)'),
    sendto: checked(
      'intptr_t sendto(int fd, const void *bytes, size_t length, int flags, const void *address, uint32_t addressLength)',
    ),
    recv: checked('intptr_t recv(int fd, void *bytes, size_t length, int flags)'),
    setsockopt: checked(
      'int setsockopt(int fd, int level, int option, const void *value, uint32_t length)',
    ),
    close: checked('int close(int fd)'),
  };
}

function useSocket(descriptor: number, calls: Calls, protocol: NetlinkProtocol): NetlinkSocket {
  const setOption = (level: number, name: number, value: number): void => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(value);
    calls.setsockopt(descriptor, level, name, bytes, bytes.length);
  };
  const { level } = option.netlink;
  setOption(level, option.netlink.capAcknowledgements, 1);
  setOption(level, option.netlink.extendedAcknowledgements, 1);
  // Without it the kernel ignores most filters of a route dump.
  if (protocol === 'route') setOption(level, option.netlink.strictChecks, 1);
  calls.setsockopt(descriptor, option.socket.level, option.socket.receiveTimeout, timeValue(), 16);
  setBuffer(
    setOption,
    receiveBufferBytes,
    option.socket.forceReceiveBuffer,
    option.socket.receiveBuffer,
  );
  const kernel = kernelAddress();
  calls.bind(descriptor, kernel, kernel.length);

  const incoming = Buffer.allocUnsafeSlow(datagramBytes);
  const receive = (flags: number): Uint8Array => {
    const length = calls.recv(descriptor, incoming, incoming.length, flags | receiveFlag.truncate);
    if (length > incoming.length) throw new SystemCallError('recv', eMessageSize);
    return Uint8Array.prototype.slice.call(incoming, 0, length);
  };
  let sendBufferBytes = 0;

  return {
    send: (bytes) => {
      const needed = bytes.length + sendBufferSlack;
      if (needed > sendBufferBytes) {
        setBuffer(setOption, needed, option.socket.forceSendBuffer, option.socket.sendBuffer);
        sendBufferBytes = needed;
      }
      try {
        calls.sendto(descriptor, bytes, bytes.length, 0, kernel, kernel.length);
      } catch (error) {
        if (!(error instanceof SystemCallError && error.code === 'EMSGSIZE')) throw error;
        // Only inside a user namespace: elsewhere the buffer was made as large as it takes.
        const reason = `sendto of ${bytes.length} bytes, more than net.core.wmem_max allows`;
        throw new SystemCallError(reason, error.errno);
      }
    },
    receive: () => receive(0),
    receiveNow: () => {
      try {
        return receive(receiveFlag.dontWait);
      } catch (error) {
        if (error instanceof SystemCallError && error.code === 'EAGAIN') return undefined;
        throw error;
      }
    },
    close: () => void calls.close(descriptor),
  };
}

const eMessageSize = 90;

/** Beyond the system's limit where we may; up to it where we may not (inside a user namespace). */
function setBuffer(
  setOption: (level: number, name: number, value: number) => void,
  bytes: number,
  forced: number,
  unforced: number,
): void {
  try {
    setOption(option.socket.level, forced, bytes);
  } catch (error) {
    if (!(error instanceof SystemCallError && error.code === 'EPERM')) throw error;
    setOption(option.socket.level, unforced, bytes);
  }
}

/** `struct sockaddr_nl` of the kernel, and as our own address: let the kernel choose. */
function kernelAddress(): Buffer {
  const address = Buffer.alloc(12);
  address.writeUInt16LE(addressFamilyNetlink);
  return address;
}

/** `struct timeval` of 64-bit machines. */
function timeValue(): Buffer {
  const value = Buffer.alloc(16);
  value.writeBigInt64LE(BigInt(receiveTimeoutSeconds));
  return value;
}
