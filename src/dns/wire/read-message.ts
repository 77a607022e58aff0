// Parses responses of upstream servers: validates the message, locates its TTLs, and decodes records that must be copied into another
// message.
import type { Answer, Run } from './answer.ts';
import { dataSpans, isSoundRecord, type KnownNames } from './check-record.ts';
import type { RecordData, ResourceRecord } from './encode-answer.ts';
import { foldCase, maxNameLength, type WireName } from './names.ts';
import { flags, headerSize, rcodes, types } from './record-types.ts';
import { skipName, skipRecord } from './skip-record.ts';

export type Message = {
  readonly id: number;
  readonly flags: number;
  readonly rcode: number;
  readonly question: { readonly name: WireName; readonly type: number; readonly class: number };
  /** Without OPT, and with TTLs capped. */
  readonly answer: Answer;
  /** The lowest TTL of the answers; without answers, that of the SOA; undefined without both. */
  readonly ttl?: number;
  readonly ttlOffsets: readonly number[];
};

/** Returns a valid response to one question; undefined for anything else. */
export function readMessage(bytes: Buffer, maxTtl: number): Message | undefined {
  if (bytes.length < headerSize) return undefined;
  const word = bytes.readUInt16BE(2);
  if ((word & flags.response) === 0 || (word & flags.opcodeMask) !== 0) return undefined;
  if (bytes.readUInt16BE(4) !== 1) return undefined;
  const nameEnd = skipName(bytes, headerSize, bytes.length);
  const name = readName(bytes, headerSize);
  // A compressed question would shift the targets of all pointers.
  if (name === undefined || nameEnd !== headerSize + name.length) return undefined;
  if (nameEnd + 4 > bytes.length) return undefined;
  const walked = walk(bytes, nameEnd + 4);
  if (walked === undefined) return undefined;
  const known: KnownNames = new Map();
  const first = nameEnd + 4;
  // Records are passed on unchanged: reject those that a client could not parse or would parse without end.
  const areSound = walked.records.every(({ at, dataEnd }) =>
    isSoundRecord(bytes, at, first + dataEnd, known),
  );
  if (!areSound) return undefined;
  const body = new Uint8Array(bytes.subarray(nameEnd + 4, walked.end));
  const view = new DataView(body.buffer, body.byteOffset, body.length);
  for (const offset of walked.ttlOffsets) {
    // RFC 2181: a TTL with the highest bit set counts as zero.
    const ttl = view.getUint32(offset);
    view.setUint32(offset, ttl > 0x7fffffff ? 0 : Math.min(ttl, maxTtl));
  }
  const kept = flags.truncated | flags.authenticData | flags.rcodeMask;
  return {
    id: bytes.readUInt16BE(0),
    flags: word,
    rcode: word & flags.rcodeMask,
    question: {
      name,
      type: bytes.readUInt16BE(nameEnd),
      class: bytes.readUInt16BE(nameEnd + 2),
    },
    answer: { ...walked.counts, flags: word & kept, body, runs: walked.runs },
    ...minTtl(walked.records, view),
    ttlOffsets: walked.ttlOffsets,
  };
}

/** The records of the answer section, with names decompressed. Undefined when one is invalid. */
export function readAnswerRecords(
  question: WireName,
  answer: Answer,
): readonly ResourceRecord[] | undefined {
  // Pointers count from the start of the message.
  const start = headerSize + question.length + 4;
  const bytes = Buffer.alloc(start + answer.body.length);
  bytes.write(question, headerSize, 'latin1');
  bytes.set(answer.body, start);
  const records: ResourceRecord[] = [];
  let at = start;
  for (let index = 0; index < answer.answers; index += 1) {
    const record = readRecord(bytes, at);
    if (record === undefined) return undefined;
    records.push(record);
    at = skipRecord(bytes, at, bytes.length);
  }
  return records;
}

type Walked = {
  readonly type: number;
  /** An offset in the packet; the others count from the first record. */
  readonly at: number;
  readonly ttlOffset: number;
  readonly section: number;
  /** Of a SOA: the offset behind MINIMUM, the negative TTL. */
  readonly dataEnd: number;
};

function walk(bytes: Buffer, start: number) {
  const counts = [6, 8, 10].map((at) => bytes.readUInt16BE(at));
  const written = [0, 0, 0];
  const records: Walked[] = [];
  const runs: Run[] = [];
  let at = start;
  let end = start;
  let optSeen = false;
  for (const [section, count] of counts.entries()) {
    for (let index = 0; index < count; index += 1) {
      const next = skipRecord(bytes, at, bytes.length);
      if (next < 0) return undefined;
      const fixed = skipName(bytes, at, bytes.length);
      const type = bytes.readUInt16BE(fixed);
      // We add our own OPT. Records behind it would shift; they are omitted, as clients do not need the additional section.
      if (type === types.OPT) optSeen = true;
      if (!optSeen) {
        records.push({ type, section, at, ttlOffset: fixed + 4 - start, dataEnd: next - start });
        written[section] = (written[section] ?? 0) + 1;
        end = next;
        noteRun(runs, bytes, at - start, next - at, at, type);
      }
      at = next;
    }
  }
  const [answers = 0, authorities = 0, additionals = 0] = written;
  return {
    end,
    records,
    runs: runs.filter(({ count }) => count > 1),
    counts: { answers, authorities, additionals },
    ttlOffsets: records.map(({ ttlOffset }) => ttlOffset),
  };
}

function noteRun(
  runs: Run[],
  bytes: Buffer,
  offset: number,
  size: number,
  at: number,
  type: number,
): void {
  if ((type !== types.A && type !== types.AAAA) || (bytes[at] ?? 0) < 0xc0) return;
  const last = runs.at(-1);
  if (last !== undefined && last.size === size && last.offset + last.size * last.count === offset) {
    runs[runs.length - 1] = { ...last, count: last.count + 1 };
  } else runs.push({ offset, size, count: 1 });
}

function minTtl(records: readonly Walked[], view: DataView): { readonly ttl?: number } {
  const answers = records.filter(({ section }) => section === 0);
  if (answers.length > 0) {
    return { ttl: Math.min(...answers.map(({ ttlOffset }) => view.getUint32(ttlOffset))) };
  }
  const soa = records.find(({ section, type }) => section === 1 && type === types.SOA);
  if (soa === undefined) return {};
  // RFC 2308: the negative TTL is the lower of the SOA's TTL and its MINIMUM field.
  return { ttl: Math.min(view.getUint32(soa.ttlOffset), view.getUint32(soa.dataEnd - 4)) };
}

function readRecord(bytes: Buffer, at: number): ResourceRecord | undefined {
  const name = readName(bytes, at);
  const fixed = skipName(bytes, at, bytes.length);
  if (name === undefined || fixed < 0) return undefined;
  const type = bytes.readUInt16BE(fixed);
  const start = fixed + 10;
  const end = start + bytes.readUInt16BE(fixed + 8);
  const data = readData(bytes, type, start, end);
  return data === undefined ? undefined : { name, type, ttl: bytes.readUInt32BE(fixed + 4), data };
}

function readData(bytes: Buffer, type: number, start: number, end: number): RecordData | undefined {
  const parts: (WireName | Uint8Array)[] = [];
  for (const span of dataSpans(bytes, type, start, end) ?? [{ start, end, isName: false }]) {
    const part = span.isName
      ? readName(bytes, span.start)
      : new Uint8Array(bytes.subarray(span.start, span.end));
    if (part === undefined) return undefined;
    if (part.length > 0) parts.push(part);
  }
  return parts;
}

/** Decompresses a name, in lower case. Pointers must lead backwards, so that none can loop. */
export function readName(bytes: Buffer, start: number): WireName | undefined {
  let name = '';
  let at = start;
  let limit = start;
  for (let label = bytes[at]; label !== 0; label = bytes[at]) {
    if (label === undefined || name.length >= maxNameLength) return undefined;
    if (label >= 0xc0) {
      at = ((label & 0x3f) << 8) | (bytes[at + 1] ?? 0);
      if (at >= limit) return undefined;
      limit = at;
      continue;
    }
    if (label > 63 || at + 1 + label > bytes.length) return undefined;
    name += bytes.toString('latin1', at, at + 1 + label);
    at += 1 + label;
  }
  return name.length < maxNameLength ? `${foldCase(name)}\0` : undefined;
}

export function isFailure(message: Message): boolean {
  return message.rcode !== rcodes.NOERROR && message.rcode !== rcodes.NXDOMAIN;
}
