// Encodes records into the body of an answer, with names compressed against the question and each other.
import type { Answer, Run } from './answer.ts';
import { maxNameLength, type WireName } from './names.ts';
import { classInternet, flags, headerSize, maxMessageSize, types } from './record-types.ts';

/** Names are strings, everything else is bytes: a SOA is two names and twenty bytes. */
export type RecordData = readonly (WireName | Uint8Array)[];

export type ResourceRecord = {
  readonly name: WireName;
  readonly type: number;
  readonly ttl: number;
  readonly data: RecordData;
};

export type Sections = {
  readonly flags: number;
  readonly answers: readonly ResourceRecord[];
  readonly authorities?: readonly ResourceRecord[];
  readonly additionals?: readonly ResourceRecord[];
};

/** Only types of RFC 1035 may contain compressed names (RFC 3597). */
const compressedInside: ReadonlySet<number> = new Set([
  types.NS,
  types.CNAME,
  types.SOA,
  types.PTR,
  types.MX,
]);
/** A pointer has 14 bits. */
const lastPointer = 0x3fff;

/** `name` must be the name of the question that the reply carries. Records beyond the maximum message size are omitted, and TC is set. */
export function encodeAnswer(question: WireName, sections: Sections): Answer {
  const { answers, authorities = [], additionals = [] } = sections;
  const writer = createWriter(question);
  let isCut = false;
  const counts = [answers, authorities, additionals].map((records) => {
    let written = 0;
    for (const record of records) if (writer.record(record)) written += 1;
    isCut ||= written < records.length;
    return written;
  });
  return {
    flags: sections.flags | (isCut ? flags.truncated : 0),
    answers: counts[0] ?? 0,
    authorities: counts[1] ?? 0,
    additionals: counts[2] ?? 0,
    ...writer.finish(),
  };
}

function createWriter(question: WireName) {
  const bodyStart = headerSize + question.length + 4;
  const offsets = new Map<WireName, number>();
  const remember = (name: WireName, at: number): void => {
    let inside = 0;
    while (name.charCodeAt(inside) !== 0 && at + inside <= lastPointer) {
      const suffix = name.slice(inside);
      if (offsets.has(suffix)) return;
      offsets.set(suffix, at + inside);
      inside += 1 + name.charCodeAt(inside);
    }
  };
  remember(question, headerSize);
  let bytes = Buffer.alloc(512);
  let at = 0;
  let isFull = false;
  const runs: Run[] = [];
  const room = (size: number): void => {
    if (at + size > bytes.length) bytes = Buffer.concat([bytes], (at + size) * 2);
  };
  const name = (value: WireName, compress: boolean): void => {
    let inside = 0;
    while (value.charCodeAt(inside) !== 0) {
      const known = compress ? offsets.get(value.slice(inside)) : undefined;
      if (known !== undefined) break;
      inside += 1 + value.charCodeAt(inside);
    }
    const start = at;
    at += bytes.write(value.slice(0, inside), at, 'latin1');
    const pointer = offsets.get(value.slice(inside));
    if (compress && pointer !== undefined) at = bytes.writeUInt16BE(0xc000 | pointer, at);
    else at = bytes.writeUInt8(0, at);
    remember(value, bodyStart + start);
  };
  const record = ({ name: owner, type, ttl, data }: ResourceRecord): boolean => {
    if (isFull) return false;
    const start = at;
    room(2 * maxNameLength + 10 + data.reduce((sum, part) => sum + part.length + 1, 0));
    name(owner, true);
    at = bytes.writeUInt16BE(type, at);
    at = bytes.writeUInt16BE(classInternet, at);
    at = bytes.writeUInt32BE(ttl, at);
    const lengthAt = at;
    at += 2;
    for (const part of data) {
      if (typeof part === 'string') name(part, compressedInside.has(type));
      else {
        bytes.set(part, at);
        at += part.length;
      }
    }
    bytes.writeUInt16BE(at - lengthAt - 2, lengthAt);
    // Later records may point into the omitted one, so omit them too.
    isFull = bodyStart + at > maxMessageSize;
    if (isFull) {
      at = start;
      return false;
    }
    noteRun(runs, type, start, at - start, bytes[start] ?? 0);
    return true;
  };
  return {
    record,
    finish: () => ({ body: new Uint8Array(bytes.subarray(0, at)), runs: real(runs) }),
  };
}

/** Address records whose owner is a pointer may be shuffled: no pointer leads into them. */
function noteRun(runs: Run[], type: number, offset: number, size: number, first: number): void {
  if ((type !== types.A && type !== types.AAAA) || first < 0xc0) return;
  const last = runs.at(-1);
  if (last !== undefined && last.size === size && last.offset + last.size * last.count === offset) {
    runs[runs.length - 1] = { ...last, count: last.count + 1 };
  } else runs.push({ offset, size, count: 1 });
}

function real(runs: readonly Run[]): readonly Run[] {
  return runs.filter(({ count }) => count > 1);
}
