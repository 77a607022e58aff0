// Network interfaces over rtnetlink (`ip link`). `route` is a connection with protocol `route`; the
// interfaces are those of its namespace.
import { closeSync, openSync } from 'node:fs';
import { macAddressBytes, macAddressText } from './address-bytes.ts';
import type { AttributeWriter } from './attributes.ts';
import { messageFlag, type NetlinkMessage } from './messages.ts';
import type { Netlink } from './netlink.ts';
import { hasCode } from './netlink-error.ts';
import { nestedIn, readAttributes, textIn, u32In, viewOf } from './read-attributes.ts';

export type Link = {
  readonly index: number;
  readonly name: string;
  /** `veth`, `bridge`, `dummy`; absent for hardware and for the loopback. */
  readonly kind?: string;
  readonly isUp: boolean;
  readonly isLoopback: boolean;
  readonly mtu: number;
  readonly macAddress?: string;
  /** The bridge it is a port of. */
  readonly masterIndex?: number;
  /** A veth's other end, by its index in its own namespace. */
  readonly peerIndex?: number;
};

export type NewLink = {
  readonly name: string;
  readonly mtu?: number;
  readonly macAddress?: string;
} & (
  | { readonly kind: 'bridge' | 'dummy' }
  | {
      readonly kind: 'veth';
      /** The other end, made at once in its namespace where one is given. */
      readonly peer: {
        readonly name: string;
        readonly namespacePath?: string;
        readonly macAddress?: string;
      };
    }
);

export type LinkChange = {
  readonly name?: string;
  readonly isUp?: boolean;
  readonly mtu?: number;
  readonly macAddress?: string;
  /** A bridge's name; the empty string takes the interface out of its bridge. */
  readonly master?: string;
  readonly namespacePath?: string;
};

const linkMessage = { new: 16, delete: 17, get: 18, set: 19 } as const;
const linkFlag = { up: 0x1, loopback: 0x8 } as const;
const attribute = {
  macAddress: 1,
  name: 3,
  mtu: 4,
  peerIndex: 5,
  master: 10,
  portSettings: 12,
  details: 18,
  namespaceDescriptor: 28,
} as const;
const detail = { kind: 1, settings: 2 } as const;
const vethPeer = 1;
const bridgePortMode = 4;
const familyBridge = 7;

export async function listLinks(route: Netlink): Promise<Link[]> {
  const messages = await route.dump({
    doing: 'list interfaces',
    type: linkMessage.get,
    write: (writer) => writeLinkHeader(writer, {}),
  });
  return messages.map(decodeLink);
}

/** Undefined when there is none of this name. */
export async function findLink(route: Netlink, name: string): Promise<Link | undefined> {
  try {
    const [message] = await route.request({
      doing: `find interface "${name}"`,
      type: linkMessage.get,
      write: (writer) => {
        writeLinkHeader(writer, {});
        writer.attributeText(attribute.name, name);
      },
    });
    return message === undefined ? undefined : decodeLink(message);
  } catch (error) {
    if (hasCode(error, 'ENODEV')) return undefined;
    throw error;
  }
}

/** Throws with code EEXIST when the name is taken. */
export async function addLink(route: Netlink, link: NewLink): Promise<void> {
  const peerPath = link.kind === 'veth' ? link.peer.namespacePath : undefined;
  await withDescriptor(peerPath, (descriptor) =>
    route.request({
      doing: `add interface "${link.name}"`,
      type: linkMessage.new,
      flags: messageFlag.create | messageFlag.exclusive,
      write: (writer) => {
        writeLinkHeader(writer, {});
        writeLinkAttributes(writer, link);
        writer.nested(attribute.details, () => {
          writer.attributeText(detail.kind, link.kind);
          if (link.kind === 'veth') writePeer(writer, link.peer, descriptor);
        });
      },
    }),
  );
}

export async function changeLink(route: Netlink, name: string, change: LinkChange): Promise<void> {
  const { index } = await requireLink(route, name);
  const masterIndex = change.master ? (await requireLink(route, change.master)).index : 0;
  await withDescriptor(change.namespacePath, (descriptor) =>
    route.request({
      doing: `change interface "${name}"`,
      type: linkMessage.set,
      write: (writer) => {
        writeLinkHeader(writer, {
          index,
          ...(change.isUp === undefined ? {} : { isUp: change.isUp }),
        });
        writeLinkAttributes(writer, change);
        if (change.master !== undefined) writer.attributeU32(attribute.master, masterIndex);
        if (descriptor !== undefined)
          writer.attributeU32(attribute.namespaceDescriptor, descriptor);
      },
    }),
  );
}

/** Whether a bridge sends a frame back out of the port it came in by: a pod that reaches itself through its Service. */
export async function setHairpin(route: Netlink, portName: string, isOn: boolean): Promise<void> {
  const { index } = await requireLink(route, portName);
  await route.request({
    doing: `set hairpin of bridge port "${portName}"`,
    type: linkMessage.set,
    write: (writer) => {
      writeLinkHeader(writer, { index, family: familyBridge });
      writer.nested(attribute.portSettings, () => writer.attributeU8(bridgePortMode, isOn ? 1 : 0));
    },
  });
}

/** Does nothing if there is none. */
export async function deleteLink(route: Netlink, name: string): Promise<void> {
  try {
    await route.request({
      doing: `delete interface "${name}"`,
      type: linkMessage.delete,
      write: (writer) => {
        writeLinkHeader(writer, {});
        writer.attributeText(attribute.name, name);
      },
    });
  } catch (error) {
    if (!hasCode(error, 'ENODEV')) throw error;
  }
}

export async function requireLink(route: Netlink, name: string): Promise<Link> {
  const link = await findLink(route, name);
  if (link === undefined) throw new Error(`Cannot use interface "${name}": there is none`);
  return link;
}

/** `struct ifinfomsg`. */
function writeLinkHeader(
  writer: AttributeWriter,
  header: { readonly index?: number; readonly family?: number; readonly isUp?: boolean },
): void {
  writer.u8(header.family ?? 0);
  writer.u8(0);
  writer.u16(0);
  writer.u32(header.index ?? 0);
  writer.u32(header.isUp ? linkFlag.up : 0);
  writer.u32(header.isUp === undefined ? 0 : linkFlag.up);
}

function writeLinkAttributes(
  writer: AttributeWriter,
  link: Pick<LinkChange, 'name' | 'mtu' | 'macAddress'>,
): void {
  if (link.name !== undefined) writer.attributeText(attribute.name, link.name);
  if (link.mtu !== undefined) writer.attributeU32(attribute.mtu, link.mtu);
  if (link.macAddress !== undefined) {
    writer.attribute(attribute.macAddress, macAddressBytes(link.macAddress));
  }
}

function writePeer(
  writer: AttributeWriter,
  peer: Pick<LinkChange, 'name' | 'macAddress'>,
  descriptor: number | undefined,
): void {
  writer.nested(detail.settings, () =>
    writer.nested(vethPeer, () => {
      writeLinkHeader(writer, {});
      writeLinkAttributes(writer, peer);
      if (descriptor !== undefined) writer.attributeU32(attribute.namespaceDescriptor, descriptor);
    }),
  );
}

async function withDescriptor<Result>(
  path: string | undefined,
  work: (descriptor: number | undefined) => Promise<Result>,
): Promise<Result> {
  if (path === undefined) return work(undefined);
  const descriptor = openSync(path, 'r');
  try {
    return await work(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const linkHeaderBytes = 16;

function decodeLink({ payload }: NetlinkMessage): Link {
  const view = viewOf(payload);
  const flags = view.getUint32(8, true);
  const attributes = readAttributes(payload.subarray(linkHeaderBytes));
  const kind = textIn(nestedIn(attributes, attribute.details), detail.kind);
  const macAddress = attributes.get(attribute.macAddress);
  const masterIndex = u32In(attributes, attribute.master);
  const peerIndex = u32In(attributes, attribute.peerIndex);
  return {
    index: view.getInt32(4, true),
    name: textIn(attributes, attribute.name) ?? '',
    isUp: (flags & linkFlag.up) !== 0,
    isLoopback: (flags & linkFlag.loopback) !== 0,
    mtu: u32In(attributes, attribute.mtu) ?? 0,
    ...(kind === undefined ? {} : { kind }),
    ...(macAddress === undefined ? {} : { macAddress: macAddressText(macAddress) }),
    ...(masterIndex === undefined ? {} : { masterIndex }),
    ...(peerIndex === undefined ? {} : { peerIndex }),
  };
}
