// Routes over rtnetlink (`ip route`).
import {
  addressBytes,
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

export type RouteType = (typeof routeTypes)[number];

export type Route = {
  readonly family: IPFamily;
  readonly type: RouteType;
  /** `0.0.0.0/0` and `::/0` are the default. */
  readonly destination: string;
  readonly gateway?: string;
  readonly interfaceIndex?: number;
  readonly preferredSource?: string;
  readonly metric?: number;
  readonly table: number;
};

export type NewRoute = {
  readonly destination: string;
  /** `unicast` unless said otherwise. */
  readonly type?: RouteType;
  readonly gateway?: string;
  readonly interfaceIndex?: number;
  readonly preferredSource?: string;
  readonly metric?: number;
  /** The main table unless said otherwise. */
  readonly table?: number;
  /** The gateway is on the link although no address of the interface covers it. */
  readonly isOnLink?: boolean;
  /** A number that says whose route it is; an administrator's unless said otherwise. */
  readonly protocol?: number;
};

/** In the order of their numbers, which start at 1. */
const routeTypes = [
  'unicast',
  'local',
  'broadcast',
  'anycast',
  'multicast',
  'blackhole',
  'unreachable',
  'prohibit',
  'throw',
] as const;

export const routeTable = { main: 254, local: 255 } as const;

const routeMessage = { new: 24, delete: 25, get: 26 } as const;
const attribute = {
  destination: 1,
  interfaceIndex: 4,
  gateway: 5,
  metric: 6,
  preferredSource: 7,
  table: 15,
} as const;
const scope = { everywhere: 0, link: 253, host: 254, nowhere: 255 } as const;
/** Marks the route as made by an administrator's program, as `ip route add` does without saying. */
const protocolBoot = 3;
const onLinkFlag = 4;
const headerBytes = 12;

export async function listRoutes(
  route: Netlink,
  filter: {
    readonly family?: IPFamily;
    readonly table?: number;
    readonly protocol?: number;
  } = {},
): Promise<Route[]> {
  const messages = await route.dump({
    doing: 'list routes',
    type: routeMessage.get,
    write: (writer) => {
      const family = filter.family === undefined ? 0 : familyNumber[filter.family];
      const { protocol = 0 } = filter;
      writeHeader(writer, { family, prefixLength: 0, protocol, scope: 0, type: 0, flags: 0 });
      if (filter.table !== undefined) writer.attributeU32(attribute.table, filter.table);
    },
  });
  return messages.flatMap((message) => decodeRoute(message) ?? []);
}

/** Throws with code EEXIST when there is a route to this destination with this metric. */
export async function addRoute(route: Netlink, wanted: NewRoute): Promise<void> {
  await write(route, 'add', wanted, messageFlag.create | messageFlag.exclusive);
}

/** Adds the route, in place of the one to this destination with this metric if there is one. */
export async function replaceRoute(route: Netlink, wanted: NewRoute): Promise<void> {
  await write(route, 'replace', wanted, messageFlag.create | messageFlag.replace);
}

/** Does nothing if there is none. */
export async function deleteRoute(route: Netlink, unwanted: NewRoute): Promise<void> {
  try {
    await route.request({
      doing: `delete route to ${unwanted.destination}`,
      type: routeMessage.delete,
      // The scope is part of the search; "nowhere" finds any.
      write: (writer) => writeRoute(writer, unwanted, scope.nowhere),
    });
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error;
  }
}

async function write(route: Netlink, verb: string, wanted: NewRoute, flags: number): Promise<void> {
  await route.request({
    doing: `${verb} route to ${wanted.destination}`,
    type: routeMessage.new,
    flags,
    write: (writer) => writeRoute(writer, wanted, scopeFor(wanted)),
  });
}

function scopeFor({ type = 'unicast', gateway }: NewRoute): number {
  if (type === 'local') return scope.host;
  return type === 'unicast' && gateway === undefined ? scope.link : scope.everywhere;
}

function writeRoute(writer: AttributeWriter, wanted: NewRoute, scopeNumber: number): void {
  const { family, bytes, length } = parsePrefix(wanted.destination);
  writeHeader(writer, {
    family: familyNumber[family],
    prefixLength: length,
    protocol: wanted.protocol ?? protocolBoot,
    scope: scopeNumber,
    type: routeTypes.indexOf(wanted.type ?? 'unicast') + 1,
    flags: wanted.isOnLink ? onLinkFlag : 0,
  });
  writer.attributeU32(attribute.table, wanted.table ?? routeTable.main);
  if (length > 0) writer.attribute(attribute.destination, bytes);
  if (wanted.gateway !== undefined) {
    writer.attribute(attribute.gateway, addressBytes(wanted.gateway));
  }
  if (wanted.interfaceIndex !== undefined) {
    writer.attributeU32(attribute.interfaceIndex, wanted.interfaceIndex);
  }
  if (wanted.preferredSource !== undefined) {
    writer.attribute(attribute.preferredSource, addressBytes(wanted.preferredSource));
  }
  if (wanted.metric !== undefined) writer.attributeU32(attribute.metric, wanted.metric);
}

type Header = {
  readonly family: number;
  readonly prefixLength: number;
  readonly protocol: number;
  readonly scope: number;
  readonly type: number;
  readonly flags: number;
};

/** `struct rtmsg`; the table is an attribute, because here it has only eight bits. */
function writeHeader(writer: AttributeWriter, header: Header): void {
  writer.u8(header.family);
  writer.u8(header.prefixLength);
  writer.u8(0);
  writer.u8(0);
  writer.u8(0);
  writer.u8(header.protocol);
  writer.u8(header.scope);
  writer.u8(header.type);
  writer.u32(header.flags);
}

function decodeRoute({ payload }: NetlinkMessage): Route | undefined {
  const view = viewOf(payload);
  const family = familyOfNumber(view.getUint8(0));
  const type = routeTypes[view.getUint8(7) - 1];
  if (family === undefined || type === undefined) return undefined;
  const attributes = readAttributes(payload.subarray(headerBytes));
  const destination = attributes.get(attribute.destination);
  const any = family === 'IPv4' ? '0.0.0.0' : '::';
  const gateway = attributes.get(attribute.gateway);
  const preferredSource = attributes.get(attribute.preferredSource);
  const interfaceIndex = u32In(attributes, attribute.interfaceIndex);
  const metric = u32In(attributes, attribute.metric);
  return {
    family,
    type,
    destination: `${destination === undefined ? any : addressText(destination)}/${view.getUint8(1)}`,
    table: u32In(attributes, attribute.table) ?? view.getUint8(4),
    ...(gateway === undefined ? {} : { gateway: addressText(gateway) }),
    ...(interfaceIndex === undefined ? {} : { interfaceIndex }),
    ...(preferredSource === undefined ? {} : { preferredSource: addressText(preferredSource) }),
    ...(metric === undefined ? {} : { metric }),
  };
}
