// TCP sockets, pipes and splice() by system calls, for relays that move bytes without copying them into this process.
// Results below zero are negated error numbers, because EAGAIN is common here.
import { loadCLibrary } from './native.ts';
import { inet, inet6 } from './socket-address.ts';

export type StreamSockets = ReturnType<typeof openStreamSockets>;

const sockStream = 1;
const sockNonBlocking = 0x800;
const closeOnExec = 0x80000;
const spliceMove = 1;
const spliceNonBlocking = 2;
const solSocket = 1;
const soReuseAddress = 2;
const soError = 4;
const soKeepAlive = 9;
const soLinger = 13;
const ipprotoTcp = 6;
const tcpNoDelay = 1;
const ipprotoIPv6 = 41;
const ipv6Only = 26;
const shutWrite = 1;
const messageDontWait = 0x40;
/** A write to a closed connection returns EPIPE instead of raising SIGPIPE. */
const messageNoSignal = 0x4000;

export function openStreamSockets() {
  const calls = declareCalls();
  const { setOption, close } = calls;
  const one = intBytes(1);
  const length = Buffer.alloc(4);
  const value = Buffer.alloc(4);
  const ends = Buffer.alloc(8);
  const resetOnClose = Buffer.alloc(8);
  resetOnClose.writeInt32LE(1, 0);
  const open = (isIPv6: boolean): number =>
    calls.socket(isIPv6 ? inet6 : inet, sockStream | sockNonBlocking | closeOnExec, 0);

  return {
    /** A listening socket. Accepted sockets inherit its options (no delay, keep-alive). */
    listen(address: Buffer, backlog: number): number {
      const isIPv6 = address.length > 16;
      const fd = open(isIPv6);
      try {
        setOption(fd, solSocket, soReuseAddress, one, 4);
        setOption(fd, solSocket, soKeepAlive, one, 4);
        setOption(fd, ipprotoTcp, tcpNoDelay, one, 4);
        if (isIPv6) setOption(fd, ipprotoIPv6, ipv6Only, one, 4);
        calls.bind(fd, address, address.length);
        calls.listen(fd, backlog);
      } catch (error) {
        close(fd);
        throw error;
      }
      return fd;
    },
    /** The port that the socket is bound to. */
    localPort(fd: number): number {
      const name = Buffer.alloc(28);
      length.writeUInt32LE(name.length);
      calls.getName(fd, name, length);
      return name.readUInt16BE(2);
    },
    /** The accepted socket; `address` receives the peer's. */
    accept(fd: number, address: Buffer): number {
      length.writeUInt32LE(address.length);
      return calls.accept4(fd, address, length, sockNonBlocking | closeOnExec);
    },
    /** A socket for `connect`, without delay. */
    openClient(isIPv6: boolean): number {
      const fd = open(isIPv6);
      setOption(fd, ipprotoTcp, tcpNoDelay, one, 4);
      return fd;
    },
    connect: (fd: number, address: Buffer): number => calls.connect(fd, address, address.length),
    /** The pending error of a socket (SO_ERROR), 0 for none. */
    pendingError(fd: number): number {
      length.writeUInt32LE(4);
      const result = calls.getOption(fd, solSocket, soError, value, length);
      return result < 0 ? -result : value.readInt32LE(0);
    },
    splice: (from: number, to: number, count: number): number =>
      calls.splice(from, null, to, null, count, spliceMove | spliceNonBlocking),
    /** Receives into the buffer; 0 after the peer's FIN. */
    receive: (fd: number, bytes: Buffer): number =>
      calls.receive(fd, bytes, bytes.length, messageDontWait),
    /** Sends up to `count` bytes of the buffer. */
    send: (fd: number, bytes: Buffer, count: number): number =>
      calls.send(fd, bytes, count, messageDontWait | messageNoSignal),
    pipe(): { readonly output: number; readonly input: number } {
      calls.pipe2(ends, sockNonBlocking | closeOnExec);
      return { output: ends.readInt32LE(0), input: ends.readInt32LE(4) };
    },
    /** Half-closes: sends FIN, and still receives. */
    endWriting: (fd: number): number => calls.shutdown(fd, shutWrite),
    /** Closes with RST, so that the peer sees a failure. */
    reset(fd: number): void {
      try {
        setOption(fd, solSocket, soLinger, resetOnClose, 8);
      } finally {
        close(fd);
      }
    },
    close: (fd: number): number => close(fd),
  };
}

function declareCalls() {
  const { checked, signed } = loadCLibrary();
  const socket = checked('int socket(int domain, int type, int protocol)');
  const bind = checked('int bind(int fd, const void *address, unsigned int length)');
  const listen = checked('int listen(int fd, int backlog)');
  const getName = checked('int getsockname(int fd, void *address, void *length)');
  const setOption = checked(
    'int setsockopt(int fd, int level, int name, const void *value, unsigned int length)',
  );
  const getOption = signed(
    'int getsockopt(int fd, int level, int name, void *value, void *length)',
  );
  const accept4 = signed('int accept4(int fd, void *address, void *length, int flags)');
  const connect = signed('int connect(int fd, const void *address, unsigned int length)');
  const splice = signed(
    'long splice(int from, void *fromOffset, int to, void *toOffset, size_t count, unsigned int flags)',
  );
  const receive = signed('long recv(int fd, void *bytes, size_t count, int flags)');
  const send = signed('long send(int fd, const void *bytes, size_t count, int flags)');
  const pipe2 = checked('int pipe2(void *ends, int flags)');
  const close = signed('int close(int fd)');
  const shutdown = signed('int shutdown(int fd, int how)');
  return {
    socket,
    bind,
    listen,
    getName,
    setOption,
    getOption,
    accept4,
    connect,
    splice,
    receive,
    send,
    pipe2,
    close,
    shutdown,
  };
}

function intBytes(number: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(number);
  return bytes;
}
