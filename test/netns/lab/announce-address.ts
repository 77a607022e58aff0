// Tells the neighbours on an interface's link that an address is here now.
import {
  gratuitousArpFrames,
  neighborAdvertisementFrame,
} from '../../../src/host/announce-frames.ts';
import { insideNamespace } from '../../../src/host/namespaces.ts';
import { loadCLibrary } from '../../../src/host/native.ts';
import { familyOfText, macAddressBytes } from '../../../src/host/netlink/address-bytes.ts';
import { openNetlink } from '../../../src/host/netlink/netlink.ts';
import { type Link, requireLink } from '../../../src/host/netlink/route-links.ts';

export type Announcement = {
  readonly interface: string;
  readonly address: string;
  /** The network namespace of the interface, where it is not the caller's. */
  readonly namespacePath?: string;
};

const addressFamilyPacket = 17;
const socketRaw = 3;
const closeOnExec = 0x80000;

/** By ARP or by neighbour advertisement, as the address's family has it. */
export async function announceAddress(announcement: Announcement): Promise<void> {
  const { address, interface: name, namespacePath } = announcement;
  const link = await findLinkOf(announcement);
  if (link.macAddress === undefined || link.isLoopback) {
    throw new Error(`Cannot announce ${address}: interface "${name}" has no hardware address`);
  }
  const macAddress = macAddressBytes(link.macAddress);
  const frames =
    familyOfText(address) === 'IPv4'
      ? gratuitousArpFrames(macAddress, address)
      : [neighborAdvertisementFrame(macAddress, address)];
  const send = (): void => sendFrames(link.index, frames);
  if (namespacePath === undefined) send();
  else insideNamespace(namespacePath, send);
}

async function findLinkOf({ interface: name, namespacePath }: Announcement): Promise<Link> {
  const route = await openNetlink({
    protocol: 'route',
    ...(namespacePath === undefined ? {} : { namespacePath }),
  });
  try {
    return await requireLink(route, name);
  } finally {
    await route.close();
  }
}

/** Frames as they are, header and all, out of one interface. */
function sendFrames(interfaceIndex: number, frames: readonly Uint8Array[]): void {
  const { checked } = loadCLibrary();
  const socket = checked('int socket(int domain, int type, int protocol)');
  const close = checked('int close(int fd)');
  const sendto = checked(
    'intptr_t sendto(int fd, const void *bytes, size_t length, int flags, const void *address, uint32_t addressLength)',
  );
  // Protocol 0: nothing is received.
  const descriptor = socket(addressFamilyPacket, socketRaw | closeOnExec, 0);
  try {
    const address = linkAddress(interfaceIndex);
    for (const frame of frames) {
      sendto(descriptor, frame, frame.length, 0, address, address.length);
    }
  } finally {
    close(descriptor);
  }
}

/** `struct sockaddr_ll`: for whole frames the interface is all it has to say. */
function linkAddress(interfaceIndex: number): Buffer {
  const address = Buffer.alloc(20);
  address.writeUInt16LE(addressFamilyPacket);
  address.writeInt32LE(interfaceIndex, 4);
  return address;
}
