// The kernel's table of connections over ctnetlink, as the `conntrack` program shows it.
import { addressBytes, addressText, familyNumber, type IPFamily } from './address-bytes.ts';
import type { AttributeWriter } from './attributes.ts';
import type { NetlinkMessage } from './messages.ts';
import { netfilterHeaderBytes, netfilterType, writeNetfilterHeader } from './netfilter.ts';
import { type Netlink, type NetlinkOptions, openNetlink } from './netlink.ts';
import { hasCode } from './netlink-error.ts';
import {
  type Attributes,
  be16In,
  be32In,
  nestedIn,
  readAttributes,
  u8In,
} from './read-attributes.ts';

export type FlowProtocol = keyof typeof protocolNumber;

/** One direction of a connection. */
export type FlowTuple = {
  readonly source: string;
  readonly destination: string;
  readonly sourcePort: number;
  readonly destinationPort: number;
};

export type Flow = {
  readonly family: IPFamily;
  readonly protocol: FlowProtocol;
  /** As the first packet was before any rule changed it. */
  readonly original: FlowTuple;
  /** As answers come in: its source is where the connection really goes. */
  readonly reply: FlowTuple;
  readonly mark: number;
  readonly zone: number;
  /** The kernel's number for this very entry, not for a later one with the same addresses. */
  readonly id: number;
};

export type FlowFilter = { readonly family: IPFamily; readonly protocol: FlowProtocol };

export type Conntrack = {
  readonly listFlows: (filter: FlowFilter) => Promise<Flow[]>;
  /** False if it no longer existed. */
  readonly deleteFlow: (flow: Flow) => Promise<boolean>;
  readonly close: () => Promise<void>;
};

const protocolNumber = { TCP: 6, UDP: 17, SCTP: 132 } as const;
const conntrackMessage = { get: 1, delete: 2 } as const;
const attribute = { original: 1, reply: 2, mark: 8, id: 12, zone: 18, filter: 25 } as const;
const tuple = { addresses: 1, protocol: 2 } as const;
const tupleAddress = {
  IPv4: { source: 1, destination: 2 },
  IPv6: { source: 3, destination: 4 },
} as const;
const tupleProtocol = { number: 1, sourcePort: 2, destinationPort: 3 } as const;
const filterFlags = { original: 1, reply: 2 } as const;
const filterByProtocolNumber = 1 << 3;

/** Listing a large table takes a while: pass `thread: 'own'` where the event loop must not wait. */
export async function openConntrack(
  options: Omit<NetlinkOptions, 'protocol'> = {},
): Promise<Conntrack> {
  const netfilter = await openNetlink({ ...options, protocol: 'netfilter' });
  return {
    listFlows: (filter) => listFlows(netfilter, filter),
    deleteFlow: (flow) => deleteFlow(netfilter, flow),
    close: netfilter.close,
  };
}

async function listFlows(netfilter: Netlink, filter: FlowFilter): Promise<Flow[]> {
  const messages = await netfilter.dump({
    doing: 'list connections',
    type: netfilterType('conntrack', conntrackMessage.get),
    write: (writer) => {
      writeNetfilterHeader(writer, familyNumber[filter.family]);
      // Kernels before 5.8 do not know the filter and list every protocol; decoding leaves the others out.
      writer.nested(attribute.original, () =>
        writer.nested(tuple.protocol, () =>
          writer.attributeU8(tupleProtocol.number, protocolNumber[filter.protocol]),
        ),
      );
      writer.nested(attribute.filter, () => {
        writer.attributeU32(filterFlags.original, filterByProtocolNumber);
        writer.attributeU32(filterFlags.reply, 0);
      });
    },
  });
  return messages.flatMap((message) => decodeFlow(message, filter) ?? []);
}

async function deleteFlow(netfilter: Netlink, flow: Flow): Promise<boolean> {
  try {
    await netfilter.request({
      doing: `delete connection to ${flow.original.destination} port ${flow.original.destinationPort}`,
      type: netfilterType('conntrack', conntrackMessage.delete),
      write: (writer) => {
        writeNetfilterHeader(writer, familyNumber[flow.family]);
        writer.nested(attribute.original, () => writeTuple(writer, flow));
        writer.attributeBe32(attribute.id, flow.id);
        if (flow.zone !== 0) writer.attributeBe16(attribute.zone, flow.zone);
      },
    });
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}

function writeTuple(writer: AttributeWriter, { family, protocol, original }: Flow): void {
  writer.nested(tuple.addresses, () => {
    writer.attribute(tupleAddress[family].source, addressBytes(original.source));
    writer.attribute(tupleAddress[family].destination, addressBytes(original.destination));
  });
  writer.nested(tuple.protocol, () => {
    writer.attributeU8(tupleProtocol.number, protocolNumber[protocol]);
    writer.attributeBe16(tupleProtocol.sourcePort, original.sourcePort);
    writer.attributeBe16(tupleProtocol.destinationPort, original.destinationPort);
  });
}

function decodeFlow({ payload }: NetlinkMessage, filter: FlowFilter): Flow | undefined {
  const { family, protocol } = filter;
  const attributes = readAttributes(payload.subarray(netfilterHeaderBytes));
  const original = nestedIn(attributes, attribute.original);
  const number = u8In(nestedIn(original, tuple.protocol), tupleProtocol.number);
  if (number !== protocolNumber[protocol]) return undefined;
  return {
    family,
    protocol,
    original: decodeTuple(original, family),
    reply: decodeTuple(nestedIn(attributes, attribute.reply), family),
    mark: be32In(attributes, attribute.mark) ?? 0,
    zone: be16In(attributes, attribute.zone) ?? 0,
    id: be32In(attributes, attribute.id) ?? 0,
  };
}

function decodeTuple(attributes: Attributes, family: IPFamily): FlowTuple {
  const addresses = nestedIn(attributes, tuple.addresses);
  const ports = nestedIn(attributes, tuple.protocol);
  const address = (type: number): string => addressText(addresses.get(type) ?? new Uint8Array(4));
  return {
    source: address(tupleAddress[family].source),
    destination: address(tupleAddress[family].destination),
    sourcePort: be16In(ports, tupleProtocol.sourcePort) ?? 0,
    destinationPort: be16In(ports, tupleProtocol.destinationPort) ?? 0,
  };
}
