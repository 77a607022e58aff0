// UDP sockets by system calls, for relays on a poll loop. Results below zero are negated error numbers.
import { loadCLibrary } from './native.ts';
import { inet, inet6 } from './socket-address.ts';

export type DatagramSockets = ReturnType<typeof openDatagramSockets>;

const sockDatagram = 2;
const sockNonBlocking = 0x800;
const closeOnExec = 0x80000;
const ipprotoIPv6 = 41;
const ipv6Only = 26;

export function openDatagramSockets() {
  const { checked, signed } = loadCLibrary();
  const socket = checked('int socket(int domain, int type, int protocol)');
  const bind = checked('int bind(int fd, const void *address, unsigned int length)');
  const getName = checked('int getsockname(int fd, void *address, void *length)');
  const setOption = checked(
    'int setsockopt(int fd, int level, int name, const void *value, unsigned int length)',
  );
  const connect = signed('int connect(int fd, const void *address, unsigned int length)');
  const receiveFrom = signed(
    'long recvfrom(int fd, void *bytes, size_t size, int flags, void *address, void *length)',
  );
  const sendTo = signed(
    'long sendto(int fd, const void *bytes, size_t size, int flags, const void *address, unsigned int length)',
  );
  const close = signed('int close(int fd)');
  const length = Buffer.alloc(4);
  const one = Buffer.from([1, 0, 0, 0]);
  const open = (isIPv6: boolean): number =>
    socket(isIPv6 ? inet6 : inet, sockDatagram | sockNonBlocking | closeOnExec, 0);

  return {
    bind(address: Buffer): number {
      const isIPv6 = address.length > 16;
      const fd = open(isIPv6);
      try {
        if (isIPv6) setOption(fd, ipprotoIPv6, ipv6Only, one, 4);
        bind(fd, address, address.length);
      } catch (error) {
        close(fd);
        throw error;
      }
      return fd;
    },
    /** A socket connected to this address, or a negated error number. */
    connect(address: Buffer): number {
      const fd = open(address.length > 16);
      const result = connect(fd, address, address.length);
      if (result < 0) close(fd);
      return result < 0 ? result : fd;
    },
    localPort(fd: number): number {
      const name = Buffer.alloc(28);
      length.writeUInt32LE(name.length);
      getName(fd, name, length);
      return name.readUInt16BE(2);
    },
    /** The number of bytes received; fills `address` with the sender's. */
    receive(fd: number, bytes: Buffer, address: Buffer): number {
      length.writeUInt32LE(address.length);
      return receiveFrom(fd, bytes, bytes.length, 0, address, length);
    },
    send: (fd: number, bytes: Buffer, count: number): number =>
      sendTo(fd, bytes, count, 0, null, 0),
    sendTo: (fd: number, bytes: Buffer, count: number, address: Buffer): number =>
      sendTo(fd, bytes, count, 0, address, address.length),
    close: (fd: number): number => close(fd),
  };
}
