// Raw sockets for the ARP and neighbour discovery frames of one interface.
import { loadCLibrary } from './native.ts';
import { solicitedNodeGroup } from './neighbor-frames.ts';

export type PacketSocket = {
  readonly fd: number;
  /** The next frame; undefined if none is queued. */
  readonly receive: () => Uint8Array | undefined;
  readonly send: (frame: Uint8Array) => void;
  readonly close: () => void;
};

const family = { packet: 17, inet6: 10 } as const;
const sockRaw = 3;
const sockDatagram = 2;
const nonBlocking = 0x800;
const closeOnExec = 0x80000;
const socketLevel = 1;
const attachFilter = 26;
const ipv6Level = 41;
const joinGroup = 20;
const leaveGroup = 21;
export const arpProtocol = 0x0806;
export const ipv6Protocol = 0x86dd;
/** Larger than any ARP or neighbour discovery frame. */
const frameBytes = 2048;

/** Receives the frames of the protocol on the interface. */
export function openPacketSocket(interfaceIndex: number, protocol: number): PacketSocket {
  const { checked, signed } = loadCLibrary();
  const socket = checked('int socket(int domain, int type, int protocol)');
  const bind = checked('int bind(int fd, const void *address, unsigned int length)');
  const close = checked('int close(int fd)');
  const receive = signed('intptr_t recv(int fd, void *bytes, size_t size, int flags)');
  const send = signed('intptr_t send(int fd, const void *bytes, size_t size, int flags)');
  // Protocol 0 until it is bound, so that no frame of another interface is queued.
  const fd = socket(family.packet, sockRaw | nonBlocking | closeOnExec, 0);
  try {
    if (protocol === ipv6Protocol) filterDiscovery(fd);
    const address = linkAddress(interfaceIndex, protocol);
    bind(fd, address, address.length);
  } catch (error) {
    close(fd);
    throw error;
  }
  const buffer = Buffer.alloc(frameBytes);
  return {
    fd,
    receive() {
      const count = receive(fd, buffer, buffer.length, 0);
      // ENETDOWN is reported once when the interface goes down; it may come up again.
      return count < 0 ? undefined : Uint8Array.from(buffer.subarray(0, count));
    },
    // Neighbours repeat requests that get no answer.
    send: (frame) => void send(fd, frame, frame.length, 0),
    close: () => void close(fd),
  };
}

/** `struct sockaddr_ll`. */
function linkAddress(interfaceIndex: number, protocol: number): Buffer {
  const address = Buffer.alloc(20);
  address.writeUInt16LE(family.packet);
  address.writeUInt16BE(protocol, 2);
  address.writeInt32LE(interfaceIndex, 4);
  return address;
}

/** Instructions of the classic packet filter (struct sock_filter): code, jump if true, jump if false, value. */
type Instruction = readonly [number, number, number, number];
const loadByte = 0x30;
const jumpIfEqual = 0x15;
const accept = 0x06;
const discoveryFilter: readonly Instruction[] = [
  [loadByte, 0, 0, 20],
  [jumpIfEqual, 0, 4, 58],
  [loadByte, 0, 0, 54],
  [jumpIfEqual, 1, 0, 135],
  [jumpIfEqual, 0, 1, 136],
  [accept, 0, 0, 0xffff],
  [accept, 0, 0, 0],
];
const instructionBytes = 8;
/** Large enough to be allocated outside of V8's heap, where it does not move while the kernel reads it. */
const programBytes = 4096;

/** Without it the kernel would copy every IPv6 packet of the interface to this socket. */
function filterDiscovery(fd: number): void {
  const { checked } = loadCLibrary();
  const setOption = checked(
    'int setsockopt(int fd, int level, int name, const void *value, unsigned int length)',
  );
  // A memmove of nothing returns the address of the buffer.
  const addressOf = checked('uint64_t memmove(void *to, const void *from, size_t count)');
  const program = Buffer.alloc(programBytes);
  for (const [at, [code, ifSo, ifNot, value]] of discoveryFilter.entries()) {
    const start = at * instructionBytes;
    program.writeUInt16LE(code, start);
    program.writeUInt8(ifSo, start + 2);
    program.writeUInt8(ifNot, start + 3);
    program.writeUInt32LE(value, start + 4);
  }
  // `struct sock_fprog`: the number of instructions, and their address.
  const description = Buffer.alloc(16);
  description.writeUInt16LE(discoveryFilter.length);
  description.writeBigUInt64LE(BigInt(addressOf(program, program, 0)), 8);
  setOption(fd, socketLevel, attachFilter, description, description.length);
}

export type GroupMember = {
  /** Joins the solicited-node groups of these addresses, and leaves all others. */
  readonly follow: (addresses: readonly Uint8Array[]) => void;
  readonly close: () => void;
};

/** Joins groups instead of using a promiscuous socket, because switches with MLD snooping forward only joined groups. */
export function openGroupMember(interfaceIndex: number): GroupMember {
  const { checked, signed } = loadCLibrary();
  const socket = checked('int socket(int domain, int type, int protocol)');
  const setOption = signed(
    'int setsockopt(int fd, int level, int name, const void *value, unsigned int length)',
  );
  const close = checked('int close(int fd)');
  const fd = socket(family.inet6, sockDatagram | closeOnExec, 0);
  const change = (name: number, group: Uint8Array): void => {
    const request = Buffer.alloc(20);
    request.set(group);
    request.writeInt32LE(interfaceIndex, 16);
    setOption(fd, ipv6Level, name, request, request.length);
  };
  // Several addresses may share a group.
  let joined = new Map<string, Uint8Array>();
  return {
    follow(addresses) {
      const groups = addresses.map(solicitedNodeGroup);
      const wanted = new Map(groups.map((group) => [group.join(), group]));
      for (const [key, group] of joined) if (!wanted.has(key)) change(leaveGroup, group);
      for (const [key, group] of wanted) if (!joined.has(key)) change(joinGroup, group);
      joined = wanted;
    },
    close: () => void close(fd),
  };
}
