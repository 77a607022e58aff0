// Writes protobuf backwards: the length of a message is known when it is written, and nothing is copied for it.
import { fixed64Type, lengthType, varintType } from './wire.ts';

export type Writer = {
  bytes: Buffer;
  /** Position of the first written byte. */
  at: number;
};

/** Most objects fit without growing. */
const startBytes = 4096;

export function newWriter(): Writer {
  return { bytes: Buffer.allocUnsafe(startBytes), at: startBytes };
}

export function written({ bytes, at }: Writer): Buffer {
  return bytes.subarray(at);
}

/** Number of written bytes; the length of a message is a difference of two. */
function size({ bytes, at }: Writer): number {
  return bytes.length - at;
}

export function writeTag(writer: Writer, number: number, type: number): void {
  writeVarint(writer, number * 8 + type);
}

export function writeVarint(writer: Writer, value: number): void {
  if (value < 0x80) {
    const at = reserve(writer, 1);
    writer.bytes[at] = value;
    return;
  }
  let bytes = 1;
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 128)) bytes += 1;
  let at = reserve(writer, bytes);
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) writer.bytes[at++] = (rest % 128) | 0x80;
  writer.bytes[at] = rest;
}

/** Negative numbers take ten bytes, also 32-bit ones. */
export function writeInteger(writer: Writer, number: number, value: number): void {
  if (value >= 0) writeVarint(writer, value);
  else writeNegative(writer, value);
  writeTag(writer, number, varintType);
}

const negativeBytes = 10;

function writeNegative(writer: Writer, value: number): void {
  const start = reserve(writer, negativeBytes);
  let rest = BigInt.asUintN(64, BigInt(value));
  for (let i = 0; i < negativeBytes; i++) {
    const more = i < negativeBytes - 1 ? 0x80 : 0;
    writer.bytes[start + i] = Number(rest & 0x7fn) | more;
    rest >>= 7n;
  }
}

export function writeDouble(writer: Writer, number: number, value: number): void {
  const at = reserve(writer, 8);
  writer.bytes.writeDoubleLE(value, at);
  writeTag(writer, number, fixed64Type);
}

/** Most strings are short ASCII; a loop is faster than two runtime calls. */
const shortString = 24;

export function writeString(writer: Writer, number: number, value: string): void {
  if (value.length <= shortString && writeAscii(writer, value)) {
    closeField(writer, number, value.length);
    return;
  }
  const length = Buffer.byteLength(value, 'utf8');
  const at = reserve(writer, length);
  writer.bytes.write(value, at, length, 'utf8');
  closeField(writer, number, length);
}

/** False, with nothing written, when the string is not ASCII. */
function writeAscii(writer: Writer, value: string): boolean {
  const at = reserve(writer, value.length);
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i);
    if (code > 0x7f) {
      writer.at += value.length;
      return false;
    }
    writer.bytes[at + i] = code;
  }
  return true;
}

export function writeBytes(writer: Writer, number: number, value: Uint8Array): void {
  const at = reserve(writer, value.length);
  writer.bytes.set(value, at);
  closeField(writer, number, value.length);
}

/** A message; `write` writes its fields in reverse. */
export function writeNested(writer: Writer, number: number, write: () => void): void {
  const before = size(writer);
  write();
  closeField(writer, number, size(writer) - before);
}

function closeField(writer: Writer, number: number, length: number): void {
  writeVarint(writer, length);
  writeTag(writer, number, lengthType);
}

/** Reserves bytes in front and returns their position. */
function reserve(writer: Writer, count: number): number {
  if (writer.at < count) grow(writer, count);
  writer.at -= count;
  return writer.at;
}

function grow(writer: Writer, count: number): void {
  const used = size(writer);
  const larger = Buffer.allocUnsafe(Math.max(2 * writer.bytes.length, used + count));
  const at = larger.length - used;
  writer.bytes.copy(larger, at, writer.at);
  writer.bytes = larger;
  writer.at = at;
}
