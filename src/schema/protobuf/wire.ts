// The protobuf wire format: varints, and fields with number and wire type. Errors have the messages of Kubernetes'
// generated code.
import { maxValues } from '../value-count.ts';

/** Bytes that are not a valid message. */
export class ProtobufError extends Error {
  override readonly name: string = 'ProtobufError';
}

/** More fields than any object may have. */
export class TooManyFields extends ProtobufError {
  override readonly name: string = 'TooManyFields';
}

export const varintType = 0;
export const fixed64Type = 1;
export const lengthType = 2;
const groupStartType = 3;
const groupEndType = 4;
const fixed32Type = 5;

/** A part of a body, and the read position. */
export type Reader = {
  readonly bytes: Buffer;
  at: number;
  end: number;
  /** The last varint: lower and upper 32 bits, unsigned. */
  low: number;
  high: number;
  /** Remaining number of fields and items. */
  left: number;
};

/** Includes values that JSON does not have: a map entry is a message with key and value. */
const maxFields = 4 * maxValues;

export function readerOf(bytes: Uint8Array): Reader {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { bytes: buffer, at: 0, end: buffer.length, low: 0, high: 0, left: maxFields };
}

const truncated = (): ProtobufError => new ProtobufError('unexpected EOF');

/** The value is in `low` and `high`, because a JavaScript number has 53 bits. */
function readVarint(reader: Reader): void {
  let low = 0;
  let high = 0;
  for (let shift = 0; shift < 64; shift += 7) {
    if (reader.at >= reader.end) throw truncated();
    const byte = reader.bytes[reader.at++] as number;
    const bits = byte & 0x7f;
    if (shift < 32) low |= bits << shift;
    if (shift > 24) high |= shift < 32 ? bits >>> (32 - shift) : bits << (shift - 32);
    if (byte < 0x80) {
      reader.low = low >>> 0;
      reader.high = high >>> 0;
      return;
    }
  }
  throw new ProtobufError('proto: integer overflow');
}

export function readInt32(reader: Reader): number {
  readVarint(reader);
  return reader.low | 0;
}

/** Exact up to 2^53, as numbers in JSON. */
export function readInt64(reader: Reader): number {
  readVarint(reader);
  return (reader.high | 0) * 2 ** 32 + reader.low;
}

export function readBoolean(reader: Reader): boolean {
  readVarint(reader);
  return reader.low !== 0 || reader.high !== 0;
}

export function readDouble(reader: Reader): number {
  if (reader.at + 8 > reader.end) throw truncated();
  const value = reader.bytes.readDoubleLE(reader.at);
  reader.at += 8;
  return value;
}

/** Reads one field if its number is known; otherwise returns false, and the field is skipped. */
export type FieldReader = (number: number, type: number) => boolean;

/** Reads all fields of the message; its name is for errors. */
export function readFields(reader: Reader, message: string, read: FieldReader): void {
  while (reader.at < reader.end) {
    countField(reader);
    readVarint(reader);
    const type = reader.low & 7;
    const number = (reader.low >>> 3) | (reader.high << 29);
    if (type === groupEndType) {
      throw new ProtobufError(`proto: ${message}: wiretype end group for non-group`);
    }
    if (number <= 0) throw illegalTag(reader, message, number);
    if (!read(number, type)) skipField(reader, type);
  }
}

export function countField(reader: Reader): void {
  reader.left -= 1;
  if (reader.left < 0) throw new TooManyFields('proto: too many fields');
}

function illegalTag({ low, high }: Reader, message: string, number: number): Error {
  const tag = high * 2 ** 32 + low;
  return new ProtobufError(`proto: ${message}: illegal tag ${number} (wire type ${tag})`);
}

/** A known field must have its wire type. */
export function expectType(type: number, wanted: number, field: string): void {
  if (type === wanted) return;
  const name = `${field.charAt(0).toUpperCase()}${field.slice(1)}`;
  throw new ProtobufError(`proto: wrong wireType = ${type} for field ${name}`);
}

/** Reads a length; returns the end position. */
export function readLength(reader: Reader): number {
  readVarint(reader);
  if (reader.high > 0x7fffffff) {
    throw new ProtobufError('proto: negative length found during unmarshaling');
  }
  if (reader.high !== 0 || reader.low > reader.end - reader.at) throw truncated();
  return reader.at + reader.low;
}

export function readBytes(reader: Reader): Buffer {
  const end = readLength(reader);
  const bytes = reader.bytes.subarray(reader.at, end);
  reader.at = end;
  return bytes;
}

export function readString(reader: Reader): string {
  const end = readLength(reader);
  const text = reader.bytes.toString('utf8', reader.at, end);
  reader.at = end;
  return text;
}

/** Reads a nested message, to whose end the reader is limited meanwhile. */
export function readNested(reader: Reader, message: string, read: FieldReader): void {
  const outer = reader.end;
  reader.end = readLength(reader);
  readFields(reader, message, read);
  reader.at = reader.end;
  reader.end = outer;
}

/** Skips an unknown field. Groups may nest arbitrarily: depth is counted, without recursion. */
function skipField(reader: Reader, firstType: number): void {
  let depth = 0;
  let type = firstType;
  for (;;) {
    depth += skipValue(reader, type);
    if (depth < 0) throw new ProtobufError('proto: unexpected end of group');
    if (depth === 0) return;
    readVarint(reader);
    type = reader.low & 7;
  }
}

/** Returns the change of the group depth. */
function skipValue(reader: Reader, type: number): number {
  switch (type) {
    case varintType:
      readVarint(reader);
      return 0;
    case fixed64Type:
      skipBytes(reader, 8);
      return 0;
    case lengthType:
      reader.at = readLength(reader);
      return 0;
    case groupStartType:
      return 1;
    case groupEndType:
      return -1;
    case fixed32Type:
      skipBytes(reader, 4);
      return 0;
    default:
      throw new ProtobufError(`proto: illegal wireType ${type}`);
  }
}

function skipBytes(reader: Reader, count: number): void {
  if (reader.at + count > reader.end) throw truncated();
  reader.at += count;
}
