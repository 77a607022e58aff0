// Decodes a query. This runs for every packet, so it allocates one object and one string.

import { maxNameLength, type WireName } from './names.ts';
import { dnssecOkBit, flags, headerSize, rcodes, types } from './record-types.ts';
import { skipRecord } from './skip-record.ts';

export type Query = {
  readonly id: number;
  /** The flags word of the header. */
  readonly flags: number;
  /** The cache key: the name in lower case (the packet keeps its case), followed by the two bytes of the type. */
  readonly key: string;
  readonly type: number;
  readonly class: number;
  /** The offset behind the question. */
  readonly end: number;
  /** The client's EDNS UDP size; 0 without EDNS. */
  readonly udpSize: number;
  readonly dnssecOk: boolean;
  /** The EDNS version; only 0 exists. */
  readonly version: number;
};

/** The packet is dropped: it is too short, or a response, which could make two servers reply to each other forever. */
export const ignored = -1;

/** Returns the query, or the rcode to reject it with, or `ignored`. */
export function decodeQuery(bytes: Buffer, length: number): Query | number {
  if (length < headerSize) return ignored;
  const word = readUint16(bytes, 2);
  if ((word & flags.response) !== 0) return ignored;
  if ((word & flags.opcodeMask) !== 0) return rcodes.NOTIMP;
  // One question, and at most OPT and a signature (TSIG) besides.
  if (readUint16(bytes, 4) !== 1) return rcodes.FORMERR;
  const before = readUint16(bytes, 6) + readUint16(bytes, 8);
  const additionals = readUint16(bytes, 10);
  if (before > maxRecordsBefore || additionals > maxAdditionals) return rcodes.FORMERR;
  const nameEnd = scanName(bytes, length);
  if (nameEnd < 0 || nameEnd + 4 > length) return rcodes.FORMERR;
  const query = {
    id: readUint16(bytes, 0),
    flags: word,
    key: foldedKey(bytes, nameEnd),
    type: readUint16(bytes, nameEnd),
    class: readUint16(bytes, nameEnd + 2),
    end: nameEnd + 4,
    udpSize: 0,
    dnssecOk: false,
    version: 0,
  };
  return before + additionals === 0
    ? query
    : withOptions(query, bytes, length, before, additionals);
}

const maxRecordsBefore = 2;
const maxAdditionals = 2;

function readUint16(bytes: Buffer, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}

/** The offset behind the question's name, or -1. Pointers are invalid: no name precedes the question. */
function scanName(bytes: Buffer, length: number): number {
  let at = headerSize;
  for (;;) {
    const label = bytes[at] ?? 0xff;
    if (at >= length || label > 63) return -1;
    at += 1 + label;
    if (at - headerSize > maxNameLength) return -1;
    if (label === 0) return at;
  }
}

const folded = Buffer.alloc(maxNameLength + 2);

function foldedKey(bytes: Buffer, nameEnd: number): string {
  for (let at = headerSize; at < nameEnd; at += 1) {
    const byte = bytes[at] ?? 0;
    // Label lengths are below 64 and capital letters start at 65: only letters are in this range.
    if (byte > 64 && byte < 91) return foldKey(bytes, nameEnd);
  }
  return bytes.toString('latin1', headerSize, nameEnd + 2);
}

function foldKey(bytes: Buffer, nameEnd: number): string {
  bytes.copy(folded, 0, headerSize, nameEnd + 2);
  for (let at = 0; at < nameEnd - headerSize; at += 1) {
    const byte = folded[at] ?? 0;
    if (byte > 64 && byte < 91) folded[at] = byte | 0x20;
  }
  return folded.toString('latin1', 0, nameEnd - headerSize + 2);
}

/** In lower case. */
export function queryName({ key }: Query): WireName {
  return key.slice(0, -2);
}

/** Reads the records behind the question; only OPT matters. */
function withOptions(
  query: Query,
  bytes: Buffer,
  length: number,
  before: number,
  additionals: number,
): Query | number {
  let at = query.end;
  for (let index = 0; index < before; index += 1) {
    at = skipRecord(bytes, at, length);
    if (at < 0) return rcodes.FORMERR;
  }
  let found = -1;
  for (let index = 0; index < additionals; index += 1) {
    const next = skipRecord(bytes, at, length);
    if (next < 0) return rcodes.FORMERR;
    if (bytes[at] === 0 && readUint16(bytes, at + 1) === types.OPT) {
      // RFC 6891: more than one OPT is a format error.
      if (found >= 0) return rcodes.FORMERR;
      found = at;
    }
    at = next;
  }
  if (found < 0) return query;
  return {
    ...query,
    udpSize: Math.max(readUint16(bytes, found + 3), 1),
    version: bytes[found + 6] ?? 0,
    dnssecOk: (readUint16(bytes, found + 7) & dnssecOkBit) !== 0,
  };
}
