// Reads connections out of a dump of the kernel's table without an object per connection: a table has up to millions. One record is
// reused for all, and addresses stay where they are in the datagram.

import { familyNumber, type IPFamily } from './address-bytes.ts';
import { alignAttribute, createAttributeWriter } from './attributes.ts';
import {
  type ErrorReport,
  messageFlag,
  messageType,
  readErrorReport,
  writeMessage,
} from './messages.ts';
import { netfilterHeaderBytes, netfilterType, writeNetfilterHeader } from './netfilter.ts';

export type FlowRecord = {
  /** The datagram. */
  bytes: Buffer;
  /** 4 or 16. */
  addressBytes: number;
  /** Of IP: 6 for TCP. */
  protocol: number;
  /** Of the first packet, before any rule changed it: offsets in `bytes`. */
  source: number;
  destination: number;
  sourcePort: number;
  destinationPort: number;
  /** Where answers come from: the connection's real destination. */
  replySource: number;
  replySourcePort: number;
  /** IPS_… of the kernel. */
  status: number;
  /** Of TCP or SCTP, in the kernel's numbers; 0 for others. */
  state: number;
  /** The kernel's number for this entry. */
  id: number;
  zone: number;
  /** From the client; undefined: accounting was off when the connection began. */
  originalBytes: number | undefined;
  replyBytes: number | undefined;
};

const headerBytes = 16;
const typeMask = 0x3fff;
const attributeHeaderBytes = 4;
const absent = -1;
const getConnection = 1;
const attribute = {
  ...{ original: 1, reply: 2, status: 3, protocolState: 4 },
  ...{ originalCounters: 9, replyCounters: 10, id: 12, zone: 18 },
} as const;
const tuple = { addresses: 1, protocol: 2 } as const;
const tupleAddress = { source4: 1, destination4: 2, source6: 3, destination6: 4 } as const;
const tupleProtocol = { number: 1, sourcePort: 2, destinationPort: 3 } as const;
const counter = { bytes: 2 } as const;
/** CTA_PROTOINFO_TCP and _SCTP; the state is the first attribute of either. */
const protocolStates: ReadonlySet<number> = new Set([1, 3]);
const stateNumber = 1;

/** The request for all connections of a family. */
export function writeFlowDump(family: IPFamily, sequence: number): Uint8Array {
  const writer = createAttributeWriter();
  const flags = messageFlag.request | messageFlag.dump;
  const type = netfilterType('conntrack', getConnection);
  writeMessage(writer, { type, flags, sequence }, () =>
    writeNetfilterHeader(writer, familyNumber[family]),
  );
  return writer.bytes();
}

export function createFlowRecord(): FlowRecord {
  return {
    ...{
      bytes: Buffer.alloc(0),
      addressBytes: 0,
      protocol: 0,
      source: absent,
      destination: absent,
    },
    ...{ sourcePort: 0, destinationPort: 0, replySource: absent, replySourcePort: 0 },
    ...{ status: 0, state: 0, id: 0, zone: 0, originalBytes: undefined, replyBytes: undefined },
  };
}

/**
 * Calls `visit` for each connection of a datagram, with the same record. Returns how the dump ended, if it did: errno 0 for its end.
 * Throws RangeError when a message or attribute is cut short.
 */
export function readFlowRecords(
  bytes: Buffer,
  record: FlowRecord,
  visit: (record: FlowRecord) => void,
): ErrorReport | undefined {
  record.bytes = bytes;
  for (let at = 0; at < bytes.length; ) {
    const length = at + headerBytes <= bytes.length ? bytes.readUInt32LE(at) : 0;
    const end = at + length;
    if (length < headerBytes || end > bytes.length) throw cutShort('message', at, bytes);
    const type = bytes.readUInt16LE(at + 4);
    if (type === messageType.done || type === messageType.error) {
      const flags = bytes.readUInt16LE(at + 6);
      const payload = bytes.subarray(at + headerBytes, end);
      return readErrorReport({ type, flags, sequence: bytes.readUInt32LE(at + 8), payload });
    }
    if (type > messageType.overrun) {
      readRecord(record, at + headerBytes + netfilterHeaderBytes, end);
      if (record.destination !== absent && record.replySource !== absent) visit(record);
    }
    at += alignAttribute(length);
  }
  return undefined;
}

function readRecord(record: FlowRecord, from: number, to: number): void {
  record.protocol = 0;
  record.source = absent;
  record.destination = absent;
  record.replySource = absent;
  record.status = 0;
  record.state = 0;
  record.id = 0;
  record.zone = 0;
  record.originalBytes = undefined;
  record.replyBytes = undefined;
  forEachAttribute(record, from, to, readAttribute);
}

type Reader = (record: FlowRecord, type: number, from: number, to: number) => void;

function forEachAttribute(record: FlowRecord, from: number, to: number, read: Reader): void {
  const { bytes } = record;
  for (let at = from; at + attributeHeaderBytes <= to; ) {
    const length = bytes.readUInt16LE(at);
    if (length < attributeHeaderBytes || at + length > to) throw cutShort('attribute', at, bytes);
    read(record, bytes.readUInt16LE(at + 2) & typeMask, at + attributeHeaderBytes, at + length);
    at += alignAttribute(length);
  }
}

function cutShort(what: string, at: number, { length }: Buffer): RangeError {
  return new RangeError(`A netlink ${what} at byte ${at} of ${length} is cut short`);
}

const readAttribute: Reader = (record, type, from, to) => {
  const { bytes } = record;
  switch (type) {
    case attribute.original:
      return forEachAttribute(record, from, to, readOriginal);
    case attribute.reply:
      return forEachAttribute(record, from, to, readReply);
    case attribute.status:
      record.status = bytes.readUInt32BE(from);
      return;
    case attribute.protocolState:
      return forEachAttribute(record, from, to, readProtocolState);
    case attribute.originalCounters:
      return forEachAttribute(record, from, to, readOriginalCounter);
    case attribute.replyCounters:
      return forEachAttribute(record, from, to, readReplyCounter);
    case attribute.id:
      record.id = bytes.readUInt32BE(from);
      return;
    case attribute.zone:
      record.zone = bytes.readUInt16BE(from);
  }
};

const readOriginal: Reader = (record, type, from, to) => {
  if (type === tuple.addresses) forEachAttribute(record, from, to, readOriginalAddress);
  else if (type === tuple.protocol) forEachAttribute(record, from, to, readOriginalProtocol);
};

const readOriginalAddress: Reader = (record, type, from, to) => {
  if (type === tupleAddress.source4 || type === tupleAddress.source6) record.source = from;
  else record.destination = from;
  record.addressBytes = to - from;
};

const readOriginalProtocol: Reader = (record, type, from) => {
  const { bytes } = record;
  if (type === tupleProtocol.number) record.protocol = bytes.readUInt8(from);
  else if (type === tupleProtocol.sourcePort) record.sourcePort = bytes.readUInt16BE(from);
  else if (type === tupleProtocol.destinationPort)
    record.destinationPort = bytes.readUInt16BE(from);
};

const readReply: Reader = (record, type, from, to) => {
  if (type === tuple.addresses) forEachAttribute(record, from, to, readReplyAddress);
  else if (type === tuple.protocol) forEachAttribute(record, from, to, readReplyProtocol);
};

const readReplyAddress: Reader = (record, type, from) => {
  if (type === tupleAddress.source4 || type === tupleAddress.source6) record.replySource = from;
};

const readReplyProtocol: Reader = (record, type, from) => {
  if (type === tupleProtocol.sourcePort) record.replySourcePort = record.bytes.readUInt16BE(from);
};

const readProtocolState: Reader = (record, type, from, to) => {
  if (protocolStates.has(type)) forEachAttribute(record, from, to, readState);
};

const readState: Reader = (record, type, from) => {
  if (type === stateNumber) record.state = record.bytes.readUInt8(from);
};

const readOriginalCounter: Reader = (record, type, from) => {
  if (type === counter.bytes) record.originalBytes = bigEndian64(record.bytes, from);
};

const readReplyCounter: Reader = (record, type, from) => {
  if (type === counter.bytes) record.replyBytes = bigEndian64(record.bytes, from);
};

/** Exact up to 2^53 bytes, which is 9 PB in one connection. */
function bigEndian64(bytes: Buffer, at: number): number {
  return bytes.readUInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4);
}
