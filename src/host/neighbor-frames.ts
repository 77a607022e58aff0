// Decodes requests and claims of neighbours about addresses: ARP for IPv4 (RFC 826), neighbour discovery for IPv6 (RFC 4861).
import {
  type AdvertisementTarget,
  arpReplyFrame,
  neighborAdvertisementFrame,
} from './announce-frames.ts';
import { addressText } from './netlink/address-bytes.ts';

export type NeighborMessage =
  /** A request for the address. `answer` makes the reply that it is here. */
  | {
      readonly kind: 'request';
      readonly address: string;
      readonly answer: (macAddress: Uint8Array) => Uint8Array;
    }
  /** The sender has the address. */
  | { readonly kind: 'claim'; readonly address: string; readonly by: Uint8Array };

const etherTypeAt = 12;
const arpType = 0x0806;
const ipv6Type = 0x86dd;
const arp = { operation: 20, senderMac: 22, sender: 28, target: 38, length: 42 } as const;
const arpRequest = 1;
const arpReply = 2;

/** Undefined for other frames, and for truncated ones. */
export function readNeighborFrame(frame: Uint8Array): NeighborMessage | undefined {
  const bytes = Buffer.from(frame.buffer, frame.byteOffset, frame.length);
  if (bytes.length < arp.length) return undefined;
  const type = bytes.readUInt16BE(etherTypeAt);
  if (type === arpType) return readArp(bytes);
  return type === ipv6Type ? readDiscovery(bytes) : undefined;
}

function readArp(bytes: Buffer): NeighborMessage | undefined {
  // Ethernet and IPv4, with the lengths that belong to them.
  if (bytes.readUInt32BE(14) !== 0x00010800 || bytes.readUInt16BE(18) !== 0x0604) return undefined;
  const operation = bytes.readUInt16BE(arp.operation);
  const senderMac = copy(bytes, arp.senderMac, 6);
  const sender = copy(bytes, arp.sender, 4);
  const target = copy(bytes, arp.target, 4);
  const isAboutItself = Buffer.compare(sender, target) === 0;
  if (operation === arpReply || isAboutItself)
    return { kind: 'claim', address: addressText(sender), by: senderMac };
  if (operation !== arpRequest) return undefined;
  const requester = { macAddress: senderMac, ip: sender };
  return {
    kind: 'request',
    address: addressText(target),
    answer: (macAddress) => arpReplyFrame(macAddress, target, requester),
  };
}

const ip6 = { nextHeader: 20, hopLimit: 21, source: 22 } as const;
const icmp = { type: 54, flags: 58, target: 62, options: 78 } as const;
const icmpV6 = 58;
const solicitation = 135;
const advertisement = 136;
/** Discovery that a router has forwarded is ignored. */
const neverForwarded = 255;

function readDiscovery(bytes: Buffer): NeighborMessage | undefined {
  if (bytes.length < icmp.options) return undefined;
  if (bytes[ip6.nextHeader] !== icmpV6 || bytes[ip6.hopLimit] !== neverForwarded) return undefined;
  const address = addressText(copy(bytes, icmp.target, 16));
  const from = copy(bytes, 6, 6);
  switch (bytes[icmp.type]) {
    case advertisement:
      return { kind: 'claim', address, by: from };
    case solicitation: {
      const requester = targetOf(from, copy(bytes, ip6.source, 16));
      return {
        kind: 'request',
        address,
        answer: (macAddress) => neighborAdvertisementFrame(macAddress, address, requester),
      };
    }
    default:
      return undefined;
  }
}

/** Duplicate address detection has no source address yet: the answer goes to all nodes (RFC 4862, section 5.4). */
function targetOf(macAddress: Uint8Array, address: Uint8Array): AdvertisementTarget | undefined {
  const isUnspecified = address.every((byte) => byte === 0);
  return isUnspecified ? undefined : { macAddress, address, isSolicited: true };
}

const copy = (bytes: Buffer, at: number, length: number): Uint8Array =>
  Uint8Array.from(bytes.subarray(at, at + length));

/** The multicast group of solicitations for the address: `ff02::1:ff` and its last three bytes. */
export function solicitedNodeGroup(address: Uint8Array): Uint8Array {
  return Uint8Array.of(0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, ...address.subarray(13));
}
