// Protobuf messages by field number, for the few messages that are not Kubernetes objects.
import {
  lengthType,
  type Reader,
  readBytes,
  readerOf,
  readFields,
  readInt64,
  varintType,
} from './wire.ts';
import {
  newWriter,
  type Writer,
  writeBytes,
  writeInteger,
  writeNested,
  writeString,
  written,
} from './writer.ts';

/** A number, a boolean, a string, bytes, or the fields of a nested message. Numbers are exact up to 2^53. */
export type FieldValue = number | boolean | string | Uint8Array | MessageFields;
export type MessageFields = readonly (readonly [number: number, value: FieldValue])[];

/** Zero and false are omitted, as in proto3. */
export function encodeMessage(fields: MessageFields): Buffer {
  const writer = newWriter();
  writeAll(writer, fields);
  return written(writer);
}

/** In reverse, because the writer works backwards. */
function writeAll(writer: Writer, fields: MessageFields): void {
  for (let at = fields.length - 1; at >= 0; at -= 1) {
    const [number, value] = fields[at] as MessageFields[number];
    writeField(writer, number, value);
  }
}

function writeField(writer: Writer, number: number, value: FieldValue): void {
  if (typeof value === 'string') writeString(writer, number, value);
  else if (value instanceof Uint8Array) writeBytes(writer, number, value);
  else if (typeof value === 'object') writeNested(writer, number, () => writeAll(writer, value));
  else if (Number(value) !== 0) writeInteger(writer, number, Number(value));
}

/** Absent fields are 0 or empty; of repeated ones `integer` and `bytes` return the last. */
export type DecodedFields = {
  readonly integer: (field: number) => number;
  readonly bytes: (field: number) => Buffer | undefined;
  readonly allBytes: (field: number) => readonly Buffer[];
};

/** Throws ProtobufError. Fields of other types than integers and bytes are skipped. */
export function decodeMessage(message: Uint8Array): DecodedFields {
  const integers: number[] = [];
  const bytes: (Buffer[] | undefined)[] = [];
  const reader = readerOf(message);
  readFields(reader, 'message', (number, type) => {
    if (type === varintType) integers[number] = readInt64(reader);
    else if (type === lengthType) addBytes(bytes, number, reader);
    else return false;
    return true;
  });
  const allBytes = (field: number): readonly Buffer[] => bytes[field] ?? [];
  return {
    integer: (field) => integers[field] ?? 0,
    bytes: (field) => allBytes(field).at(-1),
    allBytes,
  };
}

function addBytes(bytes: (Buffer[] | undefined)[], number: number, reader: Reader): void {
  const value = readBytes(reader);
  const list = bytes[number];
  if (list === undefined) bytes[number] = [value];
  else list.push(value);
}
