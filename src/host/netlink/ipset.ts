// The kernel's ipset, which iptables' rules match against (`ipset` in other words).
import {
  addressBytes,
  addressText,
  familyNumber,
  familyOfText,
  type IPFamily,
  parsePrefix,
} from './address-bytes.ts';
import type { AttributeWriter } from './attributes.ts';
import { netfilterHeaderBytes, netfilterType, writeNetfilterHeader } from './netfilter.ts';
import { type Netlink, type NetlinkOptions, openNetlink } from './netlink.ts';
import { hasCode } from './netlink-error.ts';
import {
  type Attributes,
  be16In,
  listIn,
  nestedIn,
  readAttributes,
  u8In,
} from './read-attributes.ts';

export type IpsetType =
  | 'bitmap:port'
  | 'hash:ip'
  | 'hash:ip,port'
  | 'hash:ip,port,ip'
  | 'hash:ip,port,net';

export type Ipset = {
  readonly name: string;
  readonly type: IpsetType;
  /** Of the addresses; without meaning for `bitmap:port`. */
  readonly family: IPFamily;
  /** The kernel's own limit is 65536 unless said otherwise. */
  readonly mostEntries?: number;
};

/** The parts that the set's type names. */
export type IpsetEntry = {
  readonly address?: string;
  readonly protocol?: 'TCP' | 'UDP' | 'SCTP';
  readonly port?: number;
  /** The second address, or prefix. */
  readonly source?: string;
};

export type Ipsets = {
  /** Fine when there is a set of this name, type and family. */
  readonly create: (set: Ipset) => Promise<void>;
  /** Fine when there is none. */
  readonly destroy: (name: string) => Promise<void>;
  readonly flush: (name: string) => Promise<void>;
  /** Exchanges the entries of two sets of the same type, at once for whoever matches against them. */
  readonly swap: (first: string, second: string) => Promise<void>;
  /** Fine when it is there. */
  readonly add: (set: Ipset, entry: IpsetEntry) => Promise<void>;
  /** Fine when it is not there. */
  readonly remove: (set: Ipset, entry: IpsetEntry) => Promise<void>;
  readonly list: (set: Ipset) => Promise<IpsetEntry[]>;
  readonly close: () => Promise<void>;
};

const command = {
  create: 2,
  destroy: 3,
  flush: 4,
  swap: 6,
  list: 7,
  add: 9,
  remove: 10,
  type: 13,
} as const;
const protocolVersion = 6;
const attribute = {
  protocol: 1,
  name: 2,
  typeName: 3,
  secondName: 3,
  revision: 4,
  family: 5,
  data: 7,
  entries: 8,
} as const;
const entryAttribute = {
  address: 1,
  cidr: 3,
  port: 4,
  portTo: 5,
  protocol: 7,
  source: 20,
  sourceCidr: 21,
  mostEntries: 19,
} as const;
const addressAttribute = { IPv4: 1, IPv6: 2 } as const;
/** ipset wants to hear that a value is in network order. */
const networkOrder = 0x4000;
const protocolNumber = { TCP: 6, UDP: 17, SCTP: 132 } as const;
const lastPort = 65535;

export async function openIpsets(options: Omit<NetlinkOptions, 'protocol'> = {}): Promise<Ipsets> {
  const netfilter = await openNetlink({ ...options, protocol: 'netfilter' });
  const byName = (doing: string, number: number) => (name: string) =>
    send(netfilter, { doing: `${doing} ipset "${name}"`, command: number, name });
  const destroy = byName('destroy', command.destroy);
  return {
    create: (set) => create(netfilter, set),
    destroy: async (name) => {
      try {
        await destroy(name);
      } catch (error) {
        if (!hasCode(error, 'ENOENT')) throw error;
      }
    },
    flush: byName('flush', command.flush),
    swap: (first, second) =>
      send(netfilter, {
        doing: `swap ipsets "${first}" and "${second}"`,
        command: command.swap,
        name: first,
        write: (writer) => writer.attributeText(attribute.secondName, second),
      }),
    add: (set, entry) => change(netfilter, { command: command.add, set, entry }),
    remove: (set, entry) => change(netfilter, { command: command.remove, set, entry }),
    list: (set) => list(netfilter, set),
    close: netfilter.close,
  };
}

async function create(netfilter: Netlink, set: Ipset): Promise<void> {
  const family = set.type === 'bitmap:port' ? 0 : familyNumber[set.family];
  const revision = await readRevision(netfilter, set.type, family);
  await send(netfilter, {
    doing: `create ipset "${set.name}"`,
    command: command.create,
    name: set.name,
    write: (writer) => {
      writer.attributeText(attribute.typeName, set.type);
      writer.attributeU8(attribute.revision, revision);
      writer.attributeU8(attribute.family, family);
      writer.nested(attribute.data, () => writeLimits(writer, set));
    },
  });
}

function writeLimits(writer: AttributeWriter, set: Ipset): void {
  if (set.type === 'bitmap:port') {
    writer.attributeBe16(entryAttribute.port | networkOrder, 0);
    writer.attributeBe16(entryAttribute.portTo | networkOrder, lastPort);
  } else if (set.mostEntries !== undefined) {
    writer.attributeBe32(entryAttribute.mostEntries | networkOrder, set.mostEntries);
  }
}

/** Sets come in revisions, and the kernel wants one that it has: its newest. */
async function readRevision(netfilter: Netlink, type: IpsetType, family: number): Promise<number> {
  const [message] = await netfilter.request({
    doing: `find ipset type ${type}`,
    type: netfilterType('ipset', command.type),
    write: (writer) => {
      writeHeader(writer);
      writer.attributeText(attribute.typeName, type);
      writer.attributeU8(attribute.family, family);
    },
  });
  const attributes = message && readAttributes(message.payload.subarray(netfilterHeaderBytes));
  return (attributes && u8In(attributes, attribute.revision)) ?? 0;
}

async function change(
  netfilter: Netlink,
  { command: number, set, entry }: { command: number; set: Ipset; entry: IpsetEntry },
): Promise<void> {
  await send(netfilter, {
    doing: `${number === command.add ? 'add to' : 'remove from'} ipset "${set.name}"`,
    command: number,
    name: set.name,
    write: (writer) => writer.nested(attribute.data, () => writeEntry(writer, entry)),
  });
}

type SetRequest = {
  readonly doing: string;
  readonly command: number;
  readonly name: string;
  readonly write?: (writer: AttributeWriter) => void;
};

async function send(netfilter: Netlink, request: SetRequest): Promise<void> {
  await netfilter.request({
    doing: request.doing,
    type: netfilterType('ipset', request.command),
    write: (writer) => {
      writeHeader(writer);
      writer.attributeText(attribute.name, request.name);
      request.write?.(writer);
    },
  });
}

function writeHeader(writer: AttributeWriter): void {
  writeNetfilterHeader(writer, familyNumber.IPv4);
  writer.attributeU8(attribute.protocol, protocolVersion);
}

function writeEntry(
  writer: AttributeWriter,
  { address, protocol, port, source }: IpsetEntry,
): void {
  if (address !== undefined) writeAddress(writer, entryAttribute.address, addressBytes(address));
  if (port !== undefined) writer.attributeBe16(entryAttribute.port | networkOrder, port);
  if (protocol !== undefined) {
    writer.attributeU8(entryAttribute.protocol, protocolNumber[protocol]);
  }
  if (source === undefined) return;
  const prefix = parsePrefix(source);
  writeAddress(writer, entryAttribute.source, prefix.bytes);
  if (source.includes('/')) writer.attributeU8(entryAttribute.sourceCidr, prefix.length);
}

function writeAddress(writer: AttributeWriter, type: number, bytes: Uint8Array): void {
  const family = bytes.length === 4 ? 'IPv4' : 'IPv6';
  writer.nested(type, () => writer.attribute(addressAttribute[family] | networkOrder, bytes));
}

async function list(netfilter: Netlink, set: Ipset): Promise<IpsetEntry[]> {
  const messages = await netfilter.dump({
    doing: `list ipset "${set.name}"`,
    type: netfilterType('ipset', command.list),
    write: (writer) => {
      writeHeader(writer);
      writer.attributeText(attribute.name, set.name);
    },
  });
  return messages.flatMap(({ payload }) => {
    const attributes = readAttributes(payload.subarray(netfilterHeaderBytes));
    return listIn(attributes, attribute.entries).map(({ value }) =>
      decodeEntry(readAttributes(value)),
    );
  });
}

function decodeEntry(entry: Attributes): IpsetEntry {
  const address = addressIn(entry, entryAttribute.address);
  const port = be16In(entry, entryAttribute.port);
  const protocol = protocolOf(u8In(entry, entryAttribute.protocol));
  const source = addressIn(entry, entryAttribute.source);
  const cidr = u8In(entry, entryAttribute.sourceCidr);
  return {
    ...(address === undefined ? {} : { address }),
    ...(protocol === undefined ? {} : { protocol }),
    ...(port === undefined ? {} : { port }),
    ...(source === undefined ? {} : { source: withLength(source, cidr) }),
  };
}

function addressIn(entry: Attributes, type: number): string | undefined {
  const address = nestedIn(entry, type);
  const bytes = address.get(addressAttribute.IPv4) ?? address.get(addressAttribute.IPv6);
  return bytes === undefined ? undefined : addressText(bytes);
}

/** A prefix of full length is written as the address alone, as everywhere. */
function withLength(address: string, length: number | undefined): string {
  const full = familyOfText(address) === 'IPv4' ? 32 : 128;
  return length === undefined || length === full ? address : `${address}/${length}`;
}

function protocolOf(number: number | undefined): IpsetEntry['protocol'] {
  return (['TCP', 'UDP', 'SCTP'] as const).find((protocol) => protocolNumber[protocol] === number);
}
