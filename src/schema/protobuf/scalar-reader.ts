// Scalars as JSON shows them; some are messages in protobuf.
import { isTextTooDeep, tooDeep } from '../nesting.ts';
import type { ScalarType } from '../node.ts';
import { formatTime } from '../time.ts';
import {
  expectType,
  fixed64Type,
  lengthType,
  ProtobufError,
  type Reader,
  readBoolean,
  readBytes,
  readDouble,
  readInt32,
  readInt64,
  readNested,
  readString,
  varintType,
} from './wire.ts';

export type ScalarReader = {
  readonly wireType: number;
  readonly read: (reader: Reader) => unknown;
  readonly zero: () => unknown;
};

export function scalarReader(type: ScalarType): ScalarReader {
  switch (type) {
    case 'string':
      return { wireType: lengthType, read: readString, zero: () => '' };
    case 'int32':
      return { wireType: varintType, read: readInt32, zero: () => 0 };
    case 'int64':
      return { wireType: varintType, read: readInt64, zero: () => 0 };
    case 'double':
      return { wireType: fixed64Type, read: readDouble, zero: () => 0 };
    case 'boolean':
      return { wireType: varintType, read: readBoolean, zero: () => false };
    case 'bytes':
      return { wireType: lengthType, read: (r) => readBytes(r).toString('base64'), zero: () => '' };
    case 'time':
      return { wireType: lengthType, read: readTime, zero: () => null };
    case 'microTime':
      return { wireType: lengthType, read: readMicroTime, zero: () => null };
    case 'quantity':
      return { wireType: lengthType, read: readQuantity, zero: () => '0' };
    case 'intOrString':
      return { wireType: lengthType, read: readIntOrString, zero: () => 0 };
    case 'any':
      return { wireType: lengthType, read: readJson, zero: () => null };
  }
}

type Timestamp = { readonly seconds: number; readonly nanos: number };

/** Go's zero time, null in JSON, is an empty message. */
function readTimestamp(reader: Reader): Timestamp | undefined {
  let [seconds, nanos, isEmpty] = [0, 0, true];
  readNested(reader, 'Timestamp', (number, type) => {
    isEmpty = false;
    if (number !== 1 && number !== 2) return false;
    expectType(type, varintType, number === 1 ? 'seconds' : 'nanos');
    if (number === 1) seconds = readInt64(reader);
    else nanos = readInt32(reader);
    return true;
  });
  if (isEmpty || seconds === zeroTimeSeconds) return undefined;
  if (seconds < year0Seconds || seconds > year9999Seconds) {
    throw new ProtobufError('Time.MarshalJSON: year outside of range [0,9999]');
  }
  return { seconds, nanos };
}

const zeroTimeSeconds = Date.parse('0001-01-01T00:00:00Z') / 1000;
const year0Seconds = Date.parse('0000-01-01T00:00:00Z') / 1000;
const year9999Seconds = Date.parse('9999-12-31T23:59:59Z') / 1000;

function readTime(reader: Reader): string | null {
  const time = readTimestamp(reader);
  return time === undefined ? null : formatTime(time.seconds * 1000);
}

const nanosPerSecond = 1_000_000_000;
const nanosPerMicro = 1000;

function readMicroTime(reader: Reader): string | null {
  const time = readTimestamp(reader);
  if (time === undefined) return null;
  const { seconds, nanos } = time;
  if (nanos < 0 || nanos >= nanosPerSecond) {
    throw new ProtobufError(`proto: Timestamp: nanos ${nanos} not within a second`);
  }
  const micros = String(Math.floor(nanos / nanosPerMicro)).padStart(6, '0');
  return `${formatTime(seconds * 1000).slice(0, -1)}.${micros}Z`;
}

/** A message whose only field, number 1, is text or bytes. */
function readOnly(reader: Reader, message: string): Buffer | undefined {
  let bytes: Buffer | undefined;
  readNested(reader, message, (number, type) => {
    if (number !== 1) return false;
    expectType(type, lengthType, message);
    bytes = readBytes(reader);
    return true;
  });
  return bytes;
}

function readQuantity(reader: Reader): string {
  return readOnly(reader, 'Quantity')?.toString('utf8') ?? '0';
}

/** fieldsV1 of managedFields: JSON inside protobuf. */
function readJson(reader: Reader): unknown {
  const text = readOnly(reader, 'FieldsV1')?.toString('utf8') ?? '';
  if (text === '') return null;
  if (isTextTooDeep(text)) throw new ProtobufError(`FieldsV1: ${tooDeep}`);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) throw new ProtobufError('FieldsV1: invalid JSON');
    throw error;
  }
}

const isString = 1;

function readIntOrString(reader: Reader): number | string {
  let [kind, number, text] = [0, 0, ''];
  readNested(reader, 'IntOrString', (field, type) => {
    if (field < 1 || field > 3) return false;
    expectType(
      type,
      field === 3 ? lengthType : varintType,
      ['type', 'intVal', 'strVal'][field - 1] ?? '',
    );
    if (field === 1) kind = readInt64(reader);
    else if (field === 2) number = readInt32(reader);
    else text = readString(reader);
    return true;
  });
  return kind === isString ? text : number;
}
