// ARP and neighbour discovery frames that announce an address, so that neighbours and switches update their tables.
import { addressBytes } from './netlink/address-bytes.ts';

const broadcast = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xff, 0xff);
const etherType = { ipv4: 0x0800, arp: 0x0806, ipv6: 0x86dd } as const;
const arpOperation = { request: 1, reply: 2 } as const;
const arpEthernet = 1;

/**
 * A request and a reply, because some receivers update their tables only from one of the two (RFC 5227, section 3).
 */
export function gratuitousArpFrames(macAddress: Uint8Array, address: string): Uint8Array[] {
  const ip = addressBytes(address);
  const own = { macAddress, ip };
  const unspecified = { macAddress: new Uint8Array(6), ip };
  return [
    arpFrame({ operation: arpOperation.request, receiver: broadcast, from: own, to: unspecified }),
    arpFrame({ operation: arpOperation.reply, receiver: broadcast, from: own, to: own }),
  ];
}

/** The reply to an ARP request. */
export function arpReplyFrame(
  macAddress: Uint8Array,
  address: Uint8Array,
  requester: { readonly macAddress: Uint8Array; readonly ip: Uint8Array },
): Uint8Array {
  return arpFrame({
    operation: arpOperation.reply,
    receiver: requester.macAddress,
    from: { macAddress, ip: address },
    to: requester,
  });
}

type ArpSide = { readonly macAddress: Uint8Array; readonly ip: Uint8Array };
type ArpParts = {
  readonly operation: number;
  readonly receiver: Uint8Array;
  readonly from: ArpSide;
  readonly to: ArpSide;
};

function arpFrame({ operation, receiver, from, to }: ArpParts): Uint8Array {
  return Buffer.concat([
    ethernetHeader(receiver, from.macAddress, etherType.arp),
    be16(arpEthernet),
    be16(etherType.ipv4),
    Buffer.of(from.macAddress.length, from.ip.length),
    be16(operation),
    from.macAddress,
    from.ip,
    to.macAddress,
    to.ip,
  ]);
}

const allNodes = addressBytes('ff02::1');
const allNodesMacAddress = Uint8Array.of(0x33, 0x33, 0, 0, 0, 1);
const icmpV6 = 58;
const neighborAdvertisement = 136;
/** Neighbours replace what they had cached. */
const overrideFlag = 0x20;
const solicitedFlag = 0x40;
const targetLinkLayerAddress = 2;
/** Receivers drop neighbour discovery with any other value: a router has forwarded it. */
const hopLimit = 255;

/** All nodes of the link, or the sender of a solicitation. */
export type AdvertisementTarget = {
  readonly macAddress: Uint8Array;
  readonly address: Uint8Array;
  readonly isSolicited: boolean;
};

const allNodesTarget: AdvertisementTarget = {
  macAddress: allNodesMacAddress,
  address: allNodes,
  isSolicited: false,
};

/** Sent from the address itself, as the kernel does for a new address (RFC 4861, section 7.2.6). */
export function neighborAdvertisementFrame(
  macAddress: Uint8Array,
  address: string,
  to: AdvertisementTarget = allNodesTarget,
): Uint8Array {
  const target = addressBytes(address);
  const flags = overrideFlag | (to.isSolicited ? solicitedFlag : 0);
  const message = Buffer.concat([
    Buffer.of(neighborAdvertisement, 0, 0, 0, flags, 0, 0, 0),
    target,
    Buffer.of(targetLinkLayerAddress, 1),
    macAddress,
  ]);
  const sum = checksum(
    Buffer.concat([target, to.address, be32(message.length), be32(icmpV6), message]),
  );
  message.writeUInt16BE(sum, 2);
  return Buffer.concat([
    ethernetHeader(to.macAddress, macAddress, etherType.ipv6),
    Buffer.of(0x60, 0, 0, 0),
    be16(message.length),
    Buffer.of(icmpV6, hopLimit),
    target,
    to.address,
    message,
  ]);
}

function ethernetHeader(to: Uint8Array, from: Uint8Array, type: number): Buffer {
  return Buffer.concat([to, from, be16(type)]);
}

/** The Internet checksum (RFC 1071); what it covers here has an even length. */
function checksum(bytes: Buffer): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += bytes.readUInt16BE(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

function be16(value: number): Buffer {
  return Buffer.of(value >> 8, value & 0xff);
}

function be32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
