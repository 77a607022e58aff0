// Addresses of interfaces over rtnetlink (`ip address`).
import {
  addressText,
  familyNumber,
  familyOfNumber,
  type IPFamily,
  parsePrefix,
} from './address-bytes.ts';
import type { AttributeWriter } from './attributes.ts';
import { messageFlag, type NetlinkMessage } from './messages.ts';
import type { Netlink } from './netlink.ts';
import { hasCode } from './netlink-error.ts';
import { readAttributes, u32In, viewOf } from './read-attributes.ts';
import { requireLink } from './route-links.ts';

export type InterfaceAddress = {
  readonly family: IPFamily;
  readonly interfaceIndex: number;
  readonly address: string;
  readonly prefixLength: number;
  readonly scope: 'global' | 'site' | 'link' | 'host' | 'nowhere';
  /** IPv6: duplicate address detection is not finished, so that nothing can be bound to it yet. */
  readonly isTentative: boolean;
};

export type NewAddress = {
  readonly interface: string;
  /** Address and prefix length, `10.0.0.1/24`; the address alone has its full length. */
  readonly address: string;
  /** IPv6: usable at once, without duplicate address detection. */
  readonly skipsDuplicateDetection?: boolean;
  /** Without the route to the prefix that the kernel makes otherwise. */
  readonly withoutPrefixRoute?: boolean;
};

const addressMessage = { new: 20, delete: 21, get: 22 } as const;
const attribute = { address: 1, local: 2, broadcast: 4, flags: 8 } as const;
const addressFlag = { noDuplicateDetection: 0x2, tentative: 0x40, noPrefixRoute: 0x200 } as const;
const scopeNumber = { global: 0, site: 200, link: 253, host: 254, nowhere: 255 } as const;
const headerBytes = 8;

export async function listAddresses(
  route: Netlink,
  filter: { readonly interface?: string; readonly family?: IPFamily } = {},
): Promise<InterfaceAddress[]> {
  const index =
    filter.interface === undefined ? 0 : (await requireLink(route, filter.interface)).index;
  const messages = await route.dump({
    doing: 'list addresses',
    type: addressMessage.get,
    write: (writer) => {
      const family = filter.family === undefined ? 0 : familyNumber[filter.family];
      writeHeader(writer, { family, prefixLength: 0, scope: 0, index });
    },
  });
  return messages.flatMap((message) => decodeAddress(message) ?? []);
}

/** Does nothing if the interface has it already. */
export async function addAddress(route: Netlink, address: NewAddress): Promise<void> {
  const flags =
    (address.skipsDuplicateDetection ? addressFlag.noDuplicateDetection : 0) |
    (address.withoutPrefixRoute ? addressFlag.noPrefixRoute : 0);
  const write = await addressWriter(route, address);
  await route.request({
    doing: `add address ${address.address} to "${address.interface}"`,
    type: addressMessage.new,
    flags: messageFlag.create | messageFlag.replace,
    write: (writer) => {
      write(writer);
      writer.attributeU32(attribute.flags, flags);
    },
  });
}

/** Does nothing if the interface does not have it. */
export async function deleteAddress(
  route: Netlink,
  address: Pick<NewAddress, 'interface' | 'address'>,
): Promise<void> {
  const write = await addressWriter(route, address);
  try {
    await route.request({
      doing: `delete address ${address.address} from "${address.interface}"`,
      type: addressMessage.delete,
      write,
    });
  } catch (error) {
    if (!hasCode(error, 'EADDRNOTAVAIL')) throw error;
  }
}

async function addressWriter(
  route: Netlink,
  { interface: name, address }: Pick<NewAddress, 'interface' | 'address'>,
): Promise<(writer: AttributeWriter) => void> {
  const link = await requireLink(route, name);
  const prefix = parsePrefix(address);
  const isLoopback = address.startsWith('127.') || addressText(prefix.bytes) === '::1';
  return (writer) => {
    writeHeader(writer, {
      family: familyNumber[prefix.family],
      prefixLength: prefix.length,
      scope: isLoopback ? scopeNumber.host : scopeNumber.global,
      index: link.index,
    });
    writer.attribute(attribute.local, prefix.bytes);
    writer.attribute(attribute.address, prefix.bytes);
    if (prefix.family === 'IPv4' && prefix.length < 31 && !isLoopback) {
      writer.attribute(attribute.broadcast, broadcastOf(prefix.bytes, prefix.length));
    }
  };
}

function broadcastOf(address: Uint8Array, prefixLength: number): Uint8Array {
  const bytes = Uint8Array.from(address);
  const view = viewOf(bytes);
  view.setUint32(0, (view.getUint32(0) | (0xffffffff >>> prefixLength)) >>> 0);
  return bytes;
}

/** `struct ifaddrmsg`. */
function writeHeader(
  writer: AttributeWriter,
  header: { family: number; prefixLength: number; scope: number; index: number },
): void {
  writer.u8(header.family);
  writer.u8(header.prefixLength);
  writer.u8(0);
  writer.u8(header.scope);
  writer.u32(header.index);
}

function decodeAddress({ payload }: NetlinkMessage): InterfaceAddress | undefined {
  const view = viewOf(payload);
  const family = familyOfNumber(view.getUint8(0));
  const attributes = readAttributes(payload.subarray(headerBytes));
  // On a point-to-point link `address` is the other side's and `local` ours; IPv6 has no `local`.
  const bytes = attributes.get(attribute.local) ?? attributes.get(attribute.address);
  if (family === undefined || bytes === undefined) return undefined;
  const flags = u32In(attributes, attribute.flags) ?? view.getUint8(2);
  return {
    family,
    interfaceIndex: view.getUint32(4, true),
    address: addressText(bytes),
    prefixLength: view.getUint8(1),
    scope: scopeOf(view.getUint8(3)),
    isTentative: (flags & addressFlag.tentative) !== 0,
  };
}

function scopeOf(number: number): InterfaceAddress['scope'] {
  switch (number) {
    case scopeNumber.host:
      return 'host';
    case scopeNumber.link:
      return 'link';
    case scopeNumber.site:
      return 'site';
    case scopeNumber.nowhere:
      return 'nowhere';
    default:
      return 'global';
  }
}
